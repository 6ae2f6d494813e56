-- Carries out what the rules decided, each change only if its task is still in that state with that token.
-- Arguments: caller, call; and for each change, no task twice: 16 bytes id, 8 token, 1 state it comes from,
--   1 event, 1 flags (1 has a failure, 2 has a result), 67 bytes the beginning of its record afterwards,
--   then 4 length and failure, 4 length and result, 4 length and example of a new group.
-- Returns a text with one letter for each: "a" applied, "m" it has moved on, "u" there is no such task.
local before = told_before()
if before then return before end

local owners = {}
local function owner_name(record)
  local number = read('>I4', record, 76)
  if owners[number] == nil then
    local owner = call('HGET', root .. 'O', number)
    owners[number] = owner and owner:sub(17) or ''
  end
  return owners[number]
end

-- What is written of the end of an attempt, or of what was noted of a task that does not run.
local function entry_of(old, head, event, failure)
  local token, started, owner = head:sub(20, 27), head:sub(36, 43), ''
  if old:byte(1) == RUNNING then
    token, started, owner = old:sub(20, 27), old:sub(36, 43), owner_name(old)
  end
  local entry = token .. string.char(event) .. started .. head:sub(36, 43) .. pack('>I2', #owner) ..
                owner .. (failure and '\1' .. failure or '\0')
  return pack('>I4', #entry) .. entry
end

local MOST_ATTEMPTS = 20
local function attempts_after(id, old, entry, failure, result)
  local many, last_failure, rest = 0, '', ''
  if old:byte(2) % 2 == 1 then
    local all = call('GET', root .. 'a' .. id) or ''
    if all ~= '' then
      many = all:byte(1)
      local length = read('>I4', all, 2)
      last_failure = all:sub(6, 5 + length)
      local result_length = math.max(read('>i4', all, 6 + length), 0)
      rest = all:sub(10 + length + result_length)
    end
  end
  if entry then
    many = many + 1
    rest = rest .. entry
    while many > MOST_ATTEMPTS do
      rest = rest:sub(5 + read('>I4', rest, 1))
      many = many - 1
    end
  end
  last_failure = failure or last_failure
  return string.char(many) .. pack('>I4', #last_failure) .. last_failure ..
         pack('>i4', result and #result or -1) .. (result or '') .. rest
end

local leaves, enters, attempts, counts, ended, woken, freed = {}, {}, {}, {}, {}, {}, {}

-- Most tasks of a batch end at the same time.
local last_time, last_score
local function score_of(time8)
  if time8 ~= last_time then
    last_time, last_score = time8, exact(read('>i8', time8))
  end
  return last_score
end

local function change(argument)
  local id = argument:sub(1, 16)
  local place = root .. 't' .. id
  local old = call('GETRANGE', place, 0, 99)
  if old == '' then return 'u' end
  local from = old:byte(1)
  if from ~= argument:byte(25) or old:sub(20, 27) ~= argument:sub(17, 24) then return 'm' end

  local event, flags = argument:byte(26), argument:byte(27)
  local head = argument:sub(28, 94)
  local to = head:byte(1)
  local at = 95
  local length = read('>I4', argument, at)
  local failure = flags % 2 == 1 and argument:sub(at + 4, at + 3 + length) or nil
  at = at + 4 + length
  length = read('>I4', argument, at)
  local result = flags >= 2 and argument:sub(at + 4, at + 3 + length) or nil
  at = at + 4 + length
  local example = argument:sub(at + 4)

  local queue = queue_of(old)
  local member = old:sub(88, 95) .. id
  append(leaves, place_of(from, old), member)
  if from == RUNNING then
    count(ended, read('>I4', old, 76), 1)
    count(freed, queue, 1)
  end
  if has_group(from) then leave_group(group_of(from, old:sub(60, 67)), member) end

  local has_attempts = old:byte(2) % 2 == 1
  local entry = (from == RUNNING or failure) and entry_of(old, head, event, failure) or nil
  if entry or failure or result or has_attempts then
    attempts[#attempts + 1] = root .. 'a' .. id
    attempts[#attempts + 1] = attempts_after(id, old, entry, failure, result)
    has_attempts = true
  end

  local marks = bit.bor(bit.band(head:byte(2), 2), bit.band(old:byte(2), 4), has_attempts and 1 or 0)
  call('SETRANGE', place, 0, head:sub(1, 1) .. string.char(marks) .. head:sub(3) ..
       '\0\0\0\0\0\0\0\0\0\0\0\0')
  local to_place = place_of(to, old)
  append(enters, to_place, score_of(is_waiting(to) and head:sub(28, 35) or head:sub(36, 43)))
  append(enters, to_place, member)
  if is_waiting(to) then
    count(woken, queue, 1)
    call('ZADD', root .. 'p' .. queue, -old:byte(100), old:byte(100))
  end
  if has_group(to) then
    enter_group(group_of(to, head:sub(60, 67)), member, head:sub(36, 43), example)
  end
  count(counts, queue .. ':' .. from, -1)
  count(counts, queue .. ':' .. to, 1)
  return 'a'
end

local answers = {}
for at = 3, #ARGV do
  answers[#answers + 1] = change(ARGV[at])
end

for place, members in pairs(leaves) do
  in_slices('ZREM', place, members)
end
for place, members in pairs(enters) do
  in_slices('ZADD', place, members)
end
for at = 1, #attempts, 1000 do
  call('MSET', unpack(attempts, at, math.min(at + 999, #attempts)))
end
for place, by in pairs(counts) do
  if by ~= 0 then
    local colon = place:find(':', 1, true)
    call('HINCRBY', root .. 'c' .. place:sub(1, colon - 1), place:sub(colon + 1), by)
  end
end
for owner, many in pairs(ended) do
  call('HINCRBY', root .. 'l', owner, -many)
end
-- Where as many run as may, those who wait were told nothing before: a place is free now.
for queue, many in pairs(freed) do
  local concurrency = call('HGET', root .. 'c' .. queue, 'concurrency')
  if concurrency and concurrency ~= '0' then count(woken, queue, many) end
end
for queue, many in pairs(woken) do
  local name = call('HGET', root .. 'Q', queue)
  if name then wake(name, many) end
end
return keep_told(table.concat(answers))
