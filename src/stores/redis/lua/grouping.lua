-- Groups of failures: who comes to them, and who leaves.

-- The name of a group in keys: all bits turned, so that of two seen at the same time the smaller one is
-- the last, and the first when read from the end.
local function group_of(state, fingerprint)
  local turned = { string.char(255 - state) }
  for at = 1, 8 do
    turned[at + 1] = string.char(255 - fingerprint:byte(at))
  end
  return table.concat(turned)
end

-- The part of a group that a task belongs to: 4 queue, and its type.
local function part_of(id, head)
  local texts = call('GETRANGE', root .. 't' .. id, HEAD, HEAD + 67)
  local length = read('>I4', texts, 1)
  if length > 64 then texts = call('GETRANGE', root .. 't' .. id, HEAD, HEAD + 3 + length) end
  return head:sub(96, 99) .. texts:sub(5, 4 + length)
end

-- What came before parts were counted is in none, so its part may be too small, or not there.
local function leave_group(group, member, part)
  local was_there = call('ZREM', root .. 'g' .. group, member) == 1
  local place, field = root .. 'x' .. group, 'p' .. part
  if call('EXISTS', root .. 'g' .. group) == 0 then
    call('DEL', place)
    call('ZREM', root .. 'G', group)
  elseif was_there then
    local known = tonumber(call('HGET', place, field) or 0)
    if known > 1 then
      call('HINCRBY', place, field, -1)
    elseif known == 1 then
      call('HDEL', place, field)
    end
  end
end

-- Where a task that came at that time is counted. Most of a batch came in the same slot.
local last_slot, last_slot_name
local function slot_of(score)
  local slot = math.floor(score / 600000000)
  if slot ~= last_slot then
    last_slot, last_slot_name = slot, string.format('s%d', slot)
  end
  return last_slot_name
end

local SLOTS_KEPT = 144  -- a day
local function forget_old_slots(place)
  local slots, latest = {}, -math.huge
  for _, field in ipairs(call('HKEYS', place)) do
    if byte(field) == 115 then
      slots[field] = tonumber(sub(field, 2))
      latest = math.max(latest, slots[field])
    end
  end
  for field, slot in pairs(slots) do
    if slot <= latest - SLOTS_KEPT then call('HDEL', place, field) end
  end
end

-- `members`: scores and members. `first8`: when the first of them changed; `last8`: and the latest. `counted`:
-- by how many each of what is counted grows.
local function enter_group(group, members, first8, last8, example, counted)
  local last = read('>i8', last8)
  local place = root .. 'x' .. group
  local is_new = call('EXISTS', root .. 'g' .. group) == 0
  in_slices('ZADD', root .. 'g' .. group, members)
  if is_new then
    call('DEL', place)
    call('HSET', place, 'first', first8, 'last', last8, 'example', example, 'whole', '1')
    call('ZADD', root .. 'G', exact(last), group)
  else
    local known = call('HGET', place, 'last')
    if known and read('>i8', known) < last then
      call('HSET', place, 'last', last8)
      call('ZADD', root .. 'G', exact(last), group)
    end
  end
  local has_new_slot = false
  for field, many in pairs(counted) do
    local now = call('HINCRBY', place, field, many)
    has_new_slot = has_new_slot or (byte(field) == 115 and now == many)
  end
  if has_new_slot then forget_old_slots(place) end
end
