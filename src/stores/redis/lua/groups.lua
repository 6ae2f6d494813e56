-- Tells of groups, latest seen first. Changes nothing.
-- Arguments: how many.
-- Returns for each its name, how many tasks, when its first and its last were seen, an example.
local answer = {}
local many = tonumber(ARGV[1])
if many == 0 then return answer end
for _, group in ipairs(call('ZREVRANGE', root .. 'G', 0, many - 1)) do
  local kept = call('HMGET', root .. 'x' .. group, 'first', 'last', 'example')
  answer[#answer + 1] = { group, call('ZCARD', root .. 'g' .. group), kept[1] or '', kept[2] or '',
                          kept[3] or '' }
end
return answer
