-- Looks for what belongs to no task.
-- Arguments: "repair" or "look"; then
--   "line", the key of a sorted set after the tag, from which rank, how many;
--   "tasks" and ids that records were found under; "keys" and idempotency keys that were found; "shelves" and names
--   of those that notes were found on; or "claims".
-- Returns how many were looked at, less those that were removed; and for each finding the id of its task
--   ("" without one), a text, and 1 if it was repaired or 0.
local repair = ARGV[1] == 'repair'
local answer = { 0 }

local function find(id, what, mend)
  local at = #answer
  if repair and mend then mend() end
  answer[at + 1], answer[at + 2], answer[at + 3] = id, what, repair and mend and 1 or 0
end

local function look_at_line(key, from, many)
  for _, member in ipairs(call('ZRANGE', key, from, from + many - 1)) do
    local number = call('GETRANGE', root .. 't' .. member:sub(9), 87, 94)
    answer[1] = answer[1] + 1
    if number ~= member:sub(1, 8) then
      find('', 'a line has a task that is not there', function() call('ZREM', key, member) end)
      if repair then answer[1] = answer[1] - 1 end
    end
  end
end

local function look_at_task(id)
  local eight = call('GETRANGE', root .. 't' .. id, 87, 94)
  if #eight < 8 then return end
  local number = read('>i8', eight) - 1
  local bucket, slot = math.floor(number / 256), number % 256
  local place = root .. 'n' .. bucket
  if call('GETRANGE', place, slot * SLOT, slot * SLOT + SLOT - 1) == '\1' .. id then return end
  find(id, 'is in no list', function()
    call('SETRANGE', place, slot * SLOT, '\1' .. id)
    call('ZADD', root .. 'N', bucket, bucket)
  end)
end

local function look_at_key(key)
  local id = call('GET', root .. 'k' .. key)
  if not id then return end
  local texts = call('GETRANGE', root .. 't' .. id, HEAD, -1)
  local its_key
  if texts ~= '' then
    local length = read('>I4', texts, 1)
    its_key = texts:sub(9 + length, 8 + length + read('>I4', texts, 5 + length))
  end
  if its_key ~= key then
    find('', 'a key leads to a task that has it not', function() call('DEL', root .. 'k' .. key) end)
  end
end

local function look_at_shelf(shelf)
  local notes, keys = root .. 'v' .. shelf, root .. 'V' .. shelf
  if call('HLEN', notes) == call('ZCARD', keys) then return end
  find('', 'a shelf does not list every note that is on it, or others', function()
    call('DEL', keys)
    for _, key in ipairs(call('HKEYS', notes)) do
      call('ZADD', keys, 0, key)
    end
  end)
end

local look_at = { tasks = look_at_task, keys = look_at_key, shelves = look_at_shelf }

local function look_at_claims()
  for _, id in ipairs(call('HKEYS', root .. 'R')) do
    local number = call('GETRANGE', root .. 't' .. id, 87, 94)
    if number == '' then
      find('', 'a claim is of a task that is not there', function() call('HDEL', root .. 'R', id) end)
    end
  end
end

if ARGV[2] == 'claims' then
  look_at_claims()
elseif ARGV[2] == 'line' then
  look_at_line(root .. ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]))
else
  for at = 3, #ARGV do
    answer[1] = answer[1] + 1
    look_at[ARGV[2]](ARGV[at])
  end
end
return answer
