-- Compares what groups say they are made of with the tasks that are in them. Of a group that is large only how many
-- they are together, unless that is wrong and to be repaired.
-- Arguments: "repair" or "look", and names of groups.
-- Returns for each finding an empty text, what it is, and 1 if it was repaired or 0.
local MOST = 2000
local repair = ARGV[1] == 'repair'
local answer = {}

local function find(what, mend)
  local at = #answer
  if repair then mend() end
  answer[at + 1], answer[at + 2], answer[at + 3] = '', what, repair and 1 or 0
end

local function name_of(group)
  local fingerprint = {}
  for at = 2, 9 do
    fingerprint[at - 1] = string.format('%02x', 255 - (byte(group, at) or 255))
  end
  local state = 255 - byte(group)
  return 'the group ' .. table.concat(fingerprint) .. ' of ' ..
         (state == DEAD and 'dead' or state == FAILED and 'failed' or 'state ' .. state) .. ' tasks'
end

local function recount(group)
  local right = {}
  local members = call('ZRANGE', root .. 'g' .. group, 0, -1)
  for _, member in ipairs(members) do
    local id = sub(member, 9)
    local head = call('GETRANGE', root .. 't' .. id, 0, HEAD - 1)
    if #head == HEAD then count(right, 'p' .. part_of(id, head), 1) end
  end
  return right
end

-- The field that is wrong, if one is. Of a group that is not whole, too few are right.
local function wrong_of(told, right, is_whole)
  for field, many in pairs(told) do
    if many > (right[field] or 0) or many <= 0 or (is_whole and many ~= right[field]) then return field end
  end
  if not is_whole then return nil end
  for field in pairs(right) do
    if not told[field] then return field end
  end
end

local function mend(place, told, right)
  for field in pairs(told) do
    call('HDEL', place, field)
  end
  for field, many in pairs(right) do
    call('HSET', place, field, many)
  end
  call('HSET', place, 'whole', '1')
end

local function look_at(group)
  local place, size = root .. 'x' .. group, call('ZCARD', root .. 'g' .. group)
  if size == 0 then
    return find(name_of(group) .. ' has none', function()
      call('DEL', place)
      call('ZREM', root .. 'G', group)
    end)
  end
  local told, sum = {}, 0
  local all = call('HGETALL', place)
  local is_whole = false
  for at = 1, #all, 2 do
    if byte(all[at]) == 112 then
      told[all[at]] = tonumber(all[at + 1])
      sum = sum + told[all[at]]
    end
    is_whole = is_whole or all[at] == 'whole'
  end
  local is_off = sum > size or (is_whole and sum ~= size)
  if size > MOST and not (is_off and repair) then
    if is_off then
      find(string.format('%s counts %d by queue and type, and has %d', name_of(group), sum, size))
    end
    return
  end
  local right = recount(group)
  local field = wrong_of(told, right, is_whole)
  if not field then return end
  local queue = call('HGET', root .. 'Q', read('>I4', field, 2)) or '?'
  find(string.format('%s counts %d of type "%s" in queue "%s", and has %d', name_of(group), told[field] or 0,
                     sub(field, 6), queue, right[field] or 0),
       function() mend(place, told, right) end)
end

for at = 2, #ARGV do
  look_at(ARGV[at])
end
return answer
