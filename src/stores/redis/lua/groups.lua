-- Tells of groups, latest seen first. Changes nothing.
-- Arguments: "page", how many, and behind which to begin: when it was seen last, and its name; or nothing: from the
--   start. Or "these" and names.
-- Returns for each its name, how many tasks, when its first and its last were seen, an example; a list of how they
--   came; a list of queue, type and how many by turns; and one of slot and how many.
local answer = {}

-- As Redis does; Lua itself goes by the language of the machine.
local function is_less(one, other)
  for at = 1, math.min(#one, #other) do
    if byte(one, at) ~= byte(other, at) then return byte(one, at) < byte(other, at) end
  end
  return #one < #other
end

-- How many stand at or before a place that need not be there any more.
local function rank_behind(score, name)
  local low, high = 0, call('ZCARD', root .. 'G')
  while low < high do
    local middle = math.floor((low + high) / 2)
    local at = call('ZREVRANGE', root .. 'G', middle, middle, 'WITHSCORES')
    local its_score = tonumber(at[2])
    local is_behind = its_score < score or (its_score == score and is_less(at[1], name))
    if is_behind then high = middle else low = middle + 1 end
  end
  return low
end

local function tell(group)
  local many = call('ZCARD', root .. 'g' .. group)
  if many == 0 then return end
  local kept, by, parts, slots = {}, { '0', '0', '0' }, {}, {}
  local all = call('HGETALL', root .. 'x' .. group)
  for at = 1, #all, 2 do
    local field, value = all[at], all[at + 1]
    local kind = byte(field)
    if kind == 112 then
      parts[#parts + 1] = call('HGET', root .. 'Q', read('>I4', field, 2)) or ''
      parts[#parts + 1] = sub(field, 6)
      parts[#parts + 1] = value
    elseif kind == 115 then
      slots[#slots + 1] = sub(field, 2)
      slots[#slots + 1] = value
    elseif kind == 98 then
      by[tonumber(sub(field, 3)) + 1] = value
    else
      kept[field] = value
    end
  end
  answer[#answer + 1] = { group, many, kept.first or '', kept.last or '', kept.example or '', by, parts,
                          slots }
end

if ARGV[1] == 'these' then
  for at = 2, #ARGV do
    tell(ARGV[at])
  end
  return answer
end
local many = tonumber(ARGV[2])
if many == 0 then return answer end
local from = ARGV[3] and rank_behind(tonumber(ARGV[3]), ARGV[4]) or 0
for _, group in ipairs(call('ZREVRANGE', root .. 'G', from, from + many - 1)) do
  tell(group)
end
return answer
