-- Carries out what the rules decided, each change only if its task is still in that state with that token.
-- Arguments: caller, call; and for each change, no task twice: 16 bytes id, 8 token, 1 state it comes from,
--   1 event, 1 flags (1 has a failure, 2 has a result, 128 it runs and is to be claimed again), 67 bytes the
--   beginning of its record afterwards, 1 how it comes to a group, 2 length and who decided it, if that is to be
--   noted, 4 length of failure and result as they stand in an attempt, these, and an example for a new group.
-- Returns a text with one letter for each: "a" applied, "c" applied and claimed again, "m" it has moved on,
--   "u" there is no such task.
local before = told_before()
if before then
  return still_true(before, function(place)
    local argument = ARGV[place + 2]
    return sub(argument, 1, 16), i8(read('>i8', argument, 47) + 1)
  end)
end

local owners = {}
local function owner_name(head)
  local number = read('>I4', head, 76)
  if owners[number] == nil then
    local owner = call('HGET', root .. 'O', number)
    owner = owner and owner:sub(17) or ''
    owners[number] = pack('>I2', #owner) .. owner
  end
  return owners[number]
end

-- What is written of the end of an attempt, or of what was noted of a task that does not run.
local function attempt_of(old, head, event, who, flags, said)
  local changed = head:sub(36, 43)
  local attempt
  if old:byte(1) == RUNNING then
    attempt = old:sub(20, 27) .. event .. old:sub(36, 43) .. changed .. owner_name(old) .. flags .. said
  else
    attempt = head:sub(20, 27) .. event .. changed .. changed .. who .. flags .. said
  end
  return pack('>I4', #attempt) .. attempt
end

-- All but the first attempt; its failure stays if no later one has any.
local function without_first(all, latest)
  local memo, at = '', 1
  if all:byte(13) == 255 then
    at = 5 + read('>I4', all, 1)
    memo = all:sub(1, at - 1)
  end
  local function parts(from)
    local length = read('>I4', all, from)
    local flags_at = from + 31 + read('>I2', all, from + 29)
    return length, flags_at, all:byte(flags_at) % 2 == 1
  end
  local length, flags_at, has_failure = parts(at)
  if has_failure then
    local failure = all:sub(flags_at + 1, flags_at + 4 + read('>I4', all, flags_at + 1))
    local body = string.rep('\0', 8) .. '\255' .. string.rep('\0', 18) .. '\1' .. failure
    memo = pack('>I4', #body) .. body
  end
  local rest = all:sub(at + 4 + length)
  at = at + 4 + length
  while at <= #all do
    local its_length, _, its_failure = parts(at)
    if its_failure then memo = '' end
    at = at + 4 + its_length
  end
  if latest then memo = '' end
  return memo .. rest
end

local MOST_ATTEMPTS = 20
local lines = {}

-- Most tasks of a batch end at the same time.
local last_time, last_score
local function score_of(time8)
  if time8 ~= last_time then
    last_time, last_score = time8, exact(read('>i8', time8))
  end
  return last_score
end

-- Nothing where the task is to be claimed again: that is answered at the end.
local function change(argument)
  local id = argument:sub(1, 16)
  local place = root .. 't' .. id
  local old, claim = head_of(id)
  if old == '' then return 'u' end
  local from = old:byte(1)
  if from ~= argument:byte(25) or old:sub(20, 27) ~= argument:sub(17, 24) then return 'm' end

  local flags = argument:byte(27) % 128
  local again = argument:byte(27) >= 128
  local has_failure = flags % 2 == 1
  local head = argument:sub(28, 94)
  local to = head:byte(1)
  local said_at = 98 + read('>I2', argument, 96)
  local who = argument:sub(96, said_at - 1)  -- with its length
  local said_end = said_at + 3 + read('>I4', argument, said_at)

  local queue = queue_of(old)
  local member = old:sub(88, 95) .. id
  if not again then append(leaves, place_of(from, old), member) end
  if from == RUNNING and not again then
    done[#done + 1] = id
    count(ended, read('>I4', old, 76), 1)
    count(freed, queue, 1)
  elseif has_group(from) then
    -- Those that came before it first: or the group might seem to be empty, and begin anew.
    enter_gathered(old:sub(1, 1) .. old:sub(60, 67))
    leave_group(group_of(from, old:sub(60, 67)), member, part_of(id, old))
  end

  local many = attempts_of(old)
  local its_attempts
  if from == RUNNING or has_failure or #who > 2 then
    local all = many > 0 and attempts_text(id, claim) or ''
    if many >= MOST_ATTEMPTS and all ~= '' then
      all = without_first(all, has_failure)
    else
      many = many + 1
    end
    its_attempts = all .. attempt_of(old, head, argument:sub(26, 26), who, string.char(flags),
                                     argument:sub(said_at + 4, said_end))
  end

  local marks = string.char(bit.band(head:byte(2), 2) + bit.band(old:byte(2), 4) + 8 * many)
  local beginning = head:sub(1, 1) .. marks .. head:sub(3) .. '\0\0\0\0\0\0\0\0\0\0\0\0'
  if again then
    gather_again(queue, { score = score_of(head:sub(28, 35)), member = member, beginning = beginning,
                          begins = i8(read('>i8', head, 20) + 1) .. head:sub(36, 43),
                          tail = old:sub(68, 79), attempts = its_attempts })
    return nil
  end
  call('SETRANGE', place, 0, beginning)
  if its_attempts then
    attempts[#attempts + 1] = root .. 'a' .. id
    attempts[#attempts + 1] = its_attempts
  end
  local to_place = place_of(to, old)
  if is_waiting(to) then
    append(enters, to_place, score_of(head:sub(28, 35)))
    count(woken, queue, 1)
    if not lines[to_place] then
      lines[to_place] = true
      call('ZADD', root .. 'p' .. queue, -old:byte(100), old:byte(100))
    end
  else
    append(enters, to_place, score_of(head:sub(36, 43)))
  end
  append(enters, to_place, member)
  if has_group(to) then
    local changed8 = head:sub(36, 43)
    gather_group(head:sub(1, 1) .. head:sub(60, 67), argument:sub(said_end + 1), score_of(changed8),
                 member, changed8, argument:byte(95), part_of(id, old))
  end
  count(counts, queue .. ':' .. from, -1)
  count(counts, queue .. ':' .. to, 1)
  return 'a'
end

for at = 3, #ARGV do
  local answer = change(ARGV[at])
  if answer then answers[#answers + 1] = answer end
end

carry_out_changes()
return keep_told(table.concat(answers))
