-- Removing tasks with all that belongs to them. What is gathered is carried out by finish_removing().
local leaves, counts, removed, zeros, places = {}, {}, {}, {}, {}

local function key_of(id, head)
  local texts_end = read('>I4', head, 110)
  local texts = call('GETRANGE', root .. 't' .. id, HEAD, texts_end - 1)
  local length = read('>I4', texts, 1)
  local key_length = read('>I4', texts, 5 + length)
  return texts:sub(9 + length, 8 + length + key_length)
end

-- `head`: the first 113 bytes of its record.
local function remove(id, head)
  local state, queue = head:byte(1), queue_of(head)
  local member = head:sub(88, 95) .. id
  local key = key_of(id, head)
  if key ~= '' and call('GET', root .. 'k' .. key) == id then call('DEL', root .. 'k' .. key) end
  append(leaves, place_of(state, head), member)
  if has_group(state) then
    leave_group(group_of(state, head:sub(60, 67)), member, part_of(id, head))
  end
  places[#places + 1] = root .. 't' .. id
  if attempts_of(head) > 0 then places[#places + 1] = root .. 'a' .. id end
  append(zeros, math.floor((read('>i8', head, 88) - 1) / 256), (read('>i8', head, 88) - 1) % 256)
  count(counts, queue .. ':' .. state, -1)
  count(removed, state, 1)
end

local function finish_removing()
  for place, members in pairs(leaves) do
    in_slices('ZREM', place, members)
  end
  in_slices('UNLINK', nil, places)
  for bucket, slots in pairs(zeros) do
    local place = root .. 'n' .. bucket
    for _, slot in ipairs(slots) do
      call('SETRANGE', place, slot * SLOT, NO_TASK)
    end
    if not (call('GET', place) or ''):find('[^%z]') then
      call('DEL', place)
      call('ZREM', root .. 'N', bucket)
    end
  end
  local queues = {}
  for place, by in pairs(counts) do
    local colon = place:find(':', 1, true)
    queues[place:sub(1, colon - 1)] = true
    call('HINCRBY', root .. 'c' .. place:sub(1, colon - 1), place:sub(colon + 1), by)
  end
  for state, many in pairs(removed) do
    call('HINCRBY', root .. 'm', 'removed' .. state, many)
  end
  for queue in pairs(queues) do
    forget_queue_if_empty(queue)
  end
end
