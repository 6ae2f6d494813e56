-- Takes those tasks of a queue that are named, if they wait and are due.
-- Arguments: caller, call, time (or empty), queue, how many, owner, lease, instance of the caller, and the
--   ids.
-- Returns 1 if the queue is blocked or 0, the time, the end of the lease, and for each id: "t", its record
--   as it waited, its attempts; or "l", the beginning of its record ("" if the queue has no such task), "".
local before = told_before()
local owner4 = pack('>I4', owner_number(ARGV[6], ARGV[8]))
if before then
  local answer = { before[1], before[2], before[3] }
  for at = 4, #before do
    local how, id = before[at]:sub(1, 1), before[at]:sub(2)
    local record = how == 't' and still_claimed(id, owner4)
    if record then
      answer[#answer + 1] = 't'
      answer[#answer + 1] = record
      answer[#answer + 1] = attempts_for_claim(id, record)
    else
      answer[#answer + 1] = 'l'
      answer[#answer + 1] = how == 'n' and '' or head_of(id)
      answer[#answer + 1] = ''
    end
  end
  return answer
end

local now = time_now(ARGV[3])
local now8 = i8(now)
local room = tonumber(ARGV[5])
local queue = queue_number(ARGV[4])
local settings = queue and call('HMGET', root .. 'c' .. queue, 'paused', 'concurrency', RUNNING) or {}
local concurrency = tonumber(settings[2] or 0)
local running = tonumber(settings[3] or 0)
local is_paused = settings[1] == '1'
if is_paused then room = 0 end
if concurrency > 0 then room = math.min(room, math.max(concurrency - running, 0)) end

local lease_end, lease8 = lease_end_of(now, ARGV[7])
local answer = { '', now8, lease8 }
local kept = { '', now8, lease8 }
local given = 0
local from = {}

for at = 9, #ARGV do
  local id = ARGV[at]
  local head = head_of(id)
  if head == '' or queue_of(head) ~= queue then
    answer[#answer + 1] = 'l'
    answer[#answer + 1] = ''
    answer[#answer + 1] = ''
    kept[#kept + 1] = 'n' .. id
  elseif is_waiting(head:byte(1)) and read('>i8', head, 28) <= now and room > 0 then
    local state = head:byte(1)
    local member = head:sub(88, 95) .. id
    local record = call('GET', root .. 't' .. id)
    call('ZREM', place_of(state, head), member)
    call('HSET', root .. 'R', id, claim_of(record, now8 .. lease8 .. owner4))
    call('ZADD', root .. 'r', lease_end, member)
    count(from, state, 1)
    room = room - 1
    given = given + 1
    answer[#answer + 1] = 't'
    answer[#answer + 1] = record
    answer[#answer + 1] = attempts_for_claim(id, record)
    kept[#kept + 1] = 't' .. id
  else
    answer[#answer + 1] = 'l'
    answer[#answer + 1] = head
    answer[#answer + 1] = ''
    kept[#kept + 1] = 'l' .. id
  end
end
if given > 0 then
  for state, many_of in pairs(from) do
    call('HINCRBY', root .. 'c' .. queue, state, -many_of)
  end
  running = call('HINCRBY', root .. 'c' .. queue, RUNNING, given)
  call('HINCRBY', root .. 'l', read('>I4', owner4), given)
end
answer[1] = (is_paused or (concurrency > 0 and running >= concurrency)) and '1' or '0'
kept[1] = answer[1]
keep_told(kept)
return answer
