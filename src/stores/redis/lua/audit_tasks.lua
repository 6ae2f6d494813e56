-- Looks at 256 tasks and at how each hangs together with the rest. Repairs lose no task: what cannot be
-- told any more is left to a person.
-- Arguments: "repair" or "look", which 256 (the number of their bucket).
-- Returns for each finding the id of its task ("" without one), a text, and 1 if it was repaired or 0.
local repair = ARGV[1] == 'repair'
local bucket = ARGV[2]
local answer = {}

local function find(id, what, mend)
  local at = #answer
  if repair and mend then mend() end
  answer[at + 1], answer[at + 2], answer[at + 3] = id, what, repair and mend and 1 or 0
end

local function write(id, at, bytes) call('SETRANGE', root .. 't' .. id, at, bytes) end

local function score_of(state, head)
  return read('>i8', head, is_waiting(state) and 28 or state == RUNNING and 68 or 36)
end

local function look_at_place(id, head, member)
  local state, queue = head:byte(1), queue_of(head)
  local right = place_of(state, head)
  local others = { root .. 'r', root .. 'w' .. queue .. ':' .. head:byte(100) }
  for ended = SUCCEEDED, CANCELED do
    others[#others + 1] = root .. 'e' .. ended .. ':' .. queue
  end
  for _, place in ipairs(others) do
    if place ~= right and call('ZSCORE', place, member) then
      find(id, 'also stands in a line of another state', function() call('ZREM', place, member) end)
    end
  end
  local function put_right() call('ZADD', right, score_of(state, head), member) end
  local score = call('ZSCORE', right, member)
  if not score then
    find(id, 'stands in no line of its state', put_right)
  elseif tonumber(score) ~= score_of(state, head) then
    find(id, 'stands in its line at another time than its record says', put_right)
  end
  if is_waiting(state) and not call('ZSCORE', root .. 'p' .. queue, head:byte(100)) then
    find(id, 'waits with a priority that no claim looks at', function()
      call('ZADD', root .. 'p' .. queue, -head:byte(100), head:byte(100))
    end)
  end
end

local function look_at_claim(id, head, member)
  local nobody = string.rep('\0', 12)
  if head:byte(1) ~= RUNNING then
    if head:sub(68, 79) ~= nobody then
      find(id, 'is not running, but has an owner or a lease', function() write(id, 67, nobody) end)
    end
    return
  end
  local function have_it_rescued()
    local claim = call('HGET', root .. 'R', id)
    call('HSET', root .. 'R', id, claim:sub(1, 16) .. string.rep('\0', 8) .. claim:sub(25))
    call('ZADD', root .. 'r', 0, member)
  end
  if read('>i8', head, 20) <= 0 then
    find(id, 'is running, but was never claimed', have_it_rescued)
  elseif not call('HGET', root .. 'O', read('>I4', head, 76)) then
    find(id, 'is running, but nobody knows its owner', have_it_rescued)
  end
end

local function look_at_failure(id, head, member)
  local state, reason, fingerprint = head:byte(1), head:byte(3), head:sub(60, 67)
  local function set_reason(to) return function() write(id, 2, string.char(to)) end end
  if state == DEAD and (reason == 0 or reason > 6) then
    find(id, 'is dead without a reason', set_reason(3))
  elseif not has_group(state) and reason ~= 0 then
    find(id, 'was not dead, but has a reason for it', set_reason(0))
  end
  if has_group(state) then
    local group = group_of(state, fingerprint)
    if not call('ZSCORE', root .. 'g' .. group, member) then
      find(id, 'is missing in its group of failures',
           function()
             local changed8 = head:sub(36, 43)
             enter_group(group, { exact(read('>i8', changed8)), member }, changed8, changed8, '',
                         { ['p' .. part_of(id, head)] = 1 })
           end)
    end
  elseif fingerprint ~= string.rep('\0', 8) then
    find(id, 'has not failed, but belongs to a group of failures',
         function() write(id, 59, string.rep('\0', 8)) end)
  end
end

local function look_at_attempts(id, head)
  local many = attempts_of(head)
  local has = call('EXISTS', root .. 'a' .. id) == 1 or attempts_text(id, call('HGET', root .. 'R', id)) ~= ''
  if many > 0 and not has then
    find(id, 'has no attempts where it should', function()
      write(id, 1, string.char(head:byte(2) - 8 * many))
    end)
  elseif many == 0 and has then
    find(id, 'has attempts that it does not know of', function() call('DEL', root .. 'a' .. id) end)
  end
end

local function look_at(number, id)
  local place = root .. 't' .. id
  if call('EXISTS', place) == 1 and call('GETRANGE', place, 0, 0):byte(1) == RUNNING then
    find(id, 'is running, but nobody has claimed it', function() call('SETRANGE', place, 0, '\0') end)
    if not repair then return end
  end
  local head = call('EXISTS', place) == 1 and head_of(id) or ''
  local slot = (number - 1) % 256
  local function free_number()
    call('SETRANGE', root .. 'n' .. bucket, slot * SLOT, NO_TASK)
  end
  if head == '' then
    return find('', 'task number ' .. number .. ' is not there', free_number)
  end
  if #head < HEAD then return find(id, 'is cut off', nil) end
  if read('>i8', head, 88) ~= number then
    return find(id, 'stands under the number of another', free_number)
  end
  if head:byte(1) > CANCELED then
    find(id, 'is in no state that there is', function()
      write(id, 0, string.char(DEAD))
      write(id, 2, '\3')
    end)
    if not repair then return end
    head = head_of(id)
  end
  local queue = queue_of(head)
  if not call('HGET', root .. 'Q', queue) then
    find(id, 'is of a queue that has no name', function()
      call('HSET', root .. 'Q', queue, 'nameless ' .. queue)
      call('HSET', root .. 'q', 'nameless ' .. queue, queue)
    end)
  end
  local member = head:sub(88, 95) .. id
  look_at_place(id, head, member)
  look_at_claim(id, head, member)
  look_at_failure(id, head, member)
  look_at_attempts(id, head)
  for at = 4, 16, 4 do
    if read('>i4', head, at) < 0 then
      find(id, 'has spent less than nothing',
           function() write(id, at - 1, '\0\0\0\0') end)
    end
  end
  local key = key_of(id, head)
  if key ~= '' and call('GET', root .. 'k' .. key) ~= id then
    find(id, 'has a key that does not lead to it', function() call('SET', root .. 'k' .. key, id) end)
  end
end

local ids = call('GET', root .. 'n' .. bucket) or ''
for at = 1, #ids, SLOT do
  local slot = ids:sub(at, at + SLOT - 1)
  if slot ~= NO_TASK then look_at(bucket * 256 + (at - 1) / SLOT + 1, slot:sub(2)) end
end
return answer
