-- Tells of notes on a shelf. Changes nothing.
-- Arguments: shelf, "only" and a key; or shelf, "up" or "down", behind which key (empty: from the start), how many.
-- Returns keys and notes by turns: 8 version, text.
local shelf, how, key = ARGV[1], ARGV[2], ARGV[3]
local notes, keys = root .. 'v' .. shelf, root .. 'V' .. shelf
local found
if how == 'only' then
  found = { key }
elseif how == 'up' then
  found = call('ZRANGEBYLEX', keys, key == '' and '-' or '(' .. key, '+', 'LIMIT', 0, ARGV[4])
else
  found = call('ZREVRANGEBYLEX', keys, key == '' and '+' or '(' .. key, '-', 'LIMIT', 0, ARGV[4])
end
local answer = {}
for _, one in ipairs(found) do
  local note = call('HGET', notes, one)
  if note then
    answer[#answer + 1] = one
    answer[#answer + 1] = note
  end
end
return answer
