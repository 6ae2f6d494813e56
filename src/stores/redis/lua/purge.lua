-- Removes tasks that ended in a state before a time, those that ended first before others.
-- Arguments: caller, call, state, time, how many.
-- Returns how many.
local before = told_before()
if before then return before end

local state, many = tonumber(ARGV[3]), tonumber(ARGV[5])
local found = {}
for _, queue in ipairs(call('HVALS', root .. 'q')) do
  local members = call('ZRANGEBYSCORE', root .. 'e' .. state .. ':' .. queue, '-inf', '(' .. ARGV[4],
                       'WITHSCORES', 'LIMIT', 0, many)
  for at = 1, #members, 2 do
    found[#found + 1] = { tonumber(members[at + 1]), read('>i8', members[at]), members[at] }
  end
end
table.sort(found, function(one, other)
  if one[1] ~= other[1] then return one[1] < other[1] end
  return one[2] < other[2]
end)
local purged = 0
for at = 1, math.min(many, #found) do
  local id = found[at][3]:sub(9)
  local head = head_of(id)
  if head ~= '' then
    remove(id, head)
    purged = purged + 1
  end
end
finish_removing()
return keep_told(purged)
