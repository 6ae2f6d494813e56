-- Takes due tasks of a queue: by priority, then due time, then as they were submitted.
-- Arguments: caller, call, time (or empty), queue, how many, owner, lease, instance of the caller, most
--   bytes in all.
-- Returns 1 if the queue is blocked or 0, the next due time or "", the time, the end of the lease, and for
--   each task its id, its record as it waited, and its attempts.
local instance = ARGV[8]
local name = ARGV[4]

local before = told_before()
if before then
  local owner4 = pack('>I4', owner_number(ARGV[6], instance))
  local answer = { before[1], before[2], before[3], before[4] }
  for at = 5, #before do
    local id = before[at]
    local record = still_claimed(id, owner4)
    if record then
      answer[#answer + 1] = id
      answer[#answer + 1] = record
      answer[#answer + 1] = attempts_for_claim(id, record)
    end
  end
  return answer
end

local now = time_now(ARGV[3])
local now8 = i8(now)
local many = tonumber(ARGV[5])
local queue = queue_number(name)

local function sleep()
  call('ZADD', root .. 's' .. name, now, instance)
  call('SADD', root .. 'S', name)
end

if not queue then
  if many > 0 then sleep() end
  return { '0', '', now8, '' }
end

local settings = call('HMGET', root .. 'c' .. queue, 'paused', 'concurrency', RUNNING)
local is_paused = settings[1] == '1'
local concurrency = tonumber(settings[2] or 0)
local running = tonumber(settings[3] or 0)
local room = many
if is_paused then room = 0 end
if concurrency > 0 then room = math.min(room, math.max(concurrency - running, 0)) end

local lease_end, lease8 = lease_end_of(now, ARGV[7])
local lease_text = exact(lease_end)
local owner
local answer = { '', '', now8, lease8 }
local kept = { '', '', now8, lease8 }
local bytes_left = tonumber(ARGV[9])
local runs, claims, given = {}, {}, 0
local rest_of_claim, last_token, last_claim
local from = { [PENDING] = 0, [RETRYING] = 0 }
local next_member, next_score

-- So many are read with one call; no more, since they may be large.
local AT_ONCE = 50
local task_key = root .. 't'
local function records_of(members, from)
  local keys = {}
  for at = from, math.min(from + AT_ONCE - 1, #members) do
    keys[at - from + 1] = task_key .. sub(members[at], 9)
  end
  return call('MGET', unpack(keys))
end

for _, priority in ipairs(call('ZRANGE', root .. 'p' .. queue, 0, -1)) do
  local line = root .. 'w' .. queue .. ':' .. priority
  local taken = 0
  if room > 0 and bytes_left > 0 then
    local members = call('ZRANGEBYSCORE', line, '-inf', now, 'LIMIT', 0, room)
    local records
    for at, member in ipairs(members) do
      local id = sub(member, 9)
      local within = (at - 1) % AT_ONCE
      if within == 0 then records = records_of(members, at) end
      local record = records[within + 1]
      taken = taken + 1
      if record then
        if not owner then
          owner = owner_number(ARGV[6], instance)
          rest_of_claim = now8 .. lease8 .. pack('>I4', owner)
        end
        local state = byte(record, 1)
        local token8 = sub(record, 20, 27)
        if token8 ~= last_token then  -- mostly none was claimed before
          last_token, last_claim = token8, claim_of(record, rest_of_claim)
        end
        claims[2 * given + 1], claims[2 * given + 2] = id, last_claim
        runs[2 * given + 1], runs[2 * given + 2] = lease_text, member
        from[state] = (from[state] or 0) + 1
        answer[3 * given + 5], answer[3 * given + 6] = id, record
        answer[3 * given + 7] = attempts_for_claim(id, record)
        kept[given + 5] = id
        given = given + 1
        room = room - 1
        bytes_left = bytes_left - #record
        if bytes_left <= 0 then break end
      end
    end
    if taken > 0 then call('ZREMRANGEBYRANK', line, 0, taken - 1) end
  end
  local head = call('ZRANGE', line, 0, 0, 'WITHSCORES')
  if not head[1] then
    call('ZREM', root .. 'p' .. queue, priority)
  elseif not next_score or tonumber(head[2]) < next_score then
    next_score = tonumber(head[2])
    next_member = head[1]
  end
end

if given > 0 then
  in_slices('ZADD', root .. 'r', runs)
  in_slices('HSET', root .. 'R', claims)
  local counts = root .. 'c' .. queue
  for state, many_of in pairs(from) do
    if many_of > 0 then call('HINCRBY', counts, state, -many_of) end
  end
  running = call('HINCRBY', counts, RUNNING, given)
  call('HINCRBY', root .. 'l', owner, given)
end
if next_member then
  answer[2] = call('GETRANGE', root .. 't' .. next_member:sub(9), 27, 34)
end
answer[1] = (is_paused or (concurrency > 0 and running >= concurrency)) and '1' or '0'
if given < many then
  sleep()
else
  call('ZREM', root .. 's' .. name, instance)  -- it has enough: to tell it would be to tell nobody
end
kept[1], kept[2] = answer[1], answer[2]
keep_told(kept)
return answer
