-- What all scripts share. KEYS[1] is the tag of the store, "{hf}": every key begins with it, so all of
-- a store is in one slot of a cluster (docs/redis.md).
--
--   t<id>         a task: its record (below)               a<id>         how its attempts ended (below)
--   k<key>        the id of the task with that key         n<number/256> ids by number, 17 bytes each
--   N             which n there are                        m             numbers given, tasks removed
--   q, Q          queues: name to number, and back         c<queue>      counts by state, settings
--   p<queue>      priorities in use                        w<queue>:<priority>  what waits, by due time
--   r             what runs, by the end of its lease       e<state>:<queue>     what has ended, by when
--   R             what runs: its claim (below)
--   G             groups by when they were last seen       g<group>      the tasks of a group
--   x<group>      what is told of a group (below)
--   V<shelf>      keys of notes, all with the score 0      v<shelf>      notes: 8 version, text
--   o, O          owners: name to number, and back         l, b          what each runs; away since
--   s<queue name> who waits for tasks of it                S             queues that somebody waits for
--   y<caller>     what that caller was told last
--
-- A record, big-endian, counted from 1 as Lua does:
--     1 state          2 flags: 2 deadline, 4 was carried, 8 x how many attempts   3 reason it is dead
--     4 spent, 4 x 4  20 token      28 due       36 changed   44 previous wait   52 deadline
--    60 fingerprint   68 lease end  76 owner, 4  80 token that was carried
--    88 number        96 queue, 4  100 priority + 100        101 created
--   109 flags: 1 retry on failure, 2 own attempts, 4 own timeout      110 where the payload begins, 4
--   114 length, type; length, key; length, trace; own attempts, own timeout; payload
-- In n, each id has a 1 before it; zeros: that number has no task any more.
-- While a task runs, its record is as it was while it waited, and R has its claim: 8 token, 8 since when, 8 end
-- of the lease, 4 owner. So many are claimed and settled with few commands. Of one that was claimed again in
-- the same step in which its last attempt ended, also what is different since: 79 the beginning of its record,
-- and all its attempts.
-- Members of sorted sets are <number><id>: what has the same score stands as it was submitted.
--
-- Of a group: when its `first` and its `last` task came, an `example`; by0, by1, by2: how many came by an error,
-- a timeout, a crash; p<4 queue><type>: how many of them are in it; s<slot>: how many came in ten minutes, slot
-- 0 begins at 1970. `whole`: all that is in it was counted so; those that an older Holdfast has put there are not.
--
-- Attempts, one behind the other: 4 length, then 8 token, 1 event, 8 started, 8 ended, 2 length and owner, 1
-- flags (1 has a failure, 2 has a result), 4 length and failure, 4 length and result. Before them, where the
-- last failure is of an attempt that is not kept any more, one with the event 255 that has it.
local root = KEYS[1]
local call = redis.call
local pack = struct.pack
-- In loops over a batch, these are called by name and lists are counted along: `text:sub` looks the function up
-- each time, and `#list` looks for the end.
local sub, byte = string.sub, string.byte

local PENDING, RUNNING, RETRYING, SUCCEEDED, FAILED, DEAD, CANCELED = 0, 1, 2, 3, 4, 5, 6
local HEAD = 113  -- bytes before the texts
local CLAIM = 28  -- bytes of a claim
local BEGINNING = 79  -- bytes of a record that change with an attempt
local SLOT = 17  -- bytes of an id in n
local NO_TASK = string.rep('\0', SLOT)
local LATEST = '\0\32\196\155\165\227\83\247'  -- as late as a time can be told

-- struct.unpack also gives where it ended.
local function read(format, bytes, at) return (struct.unpack(format, bytes, at or 1)) end
-- As a text that loses nothing. Redis makes one of every number that it is handed, so of one that is handed
-- over often it is made once.
local function exact(number) return string.format('%.17g', number) end
local function i8(number) return pack('>i8', number) end

-- In microseconds; the server's own unless a test tells it.
local function time_now(told)
  if told ~= '' then return tonumber(told) end
  local time = call('TIME')
  return time[1] * 1000000 + time[2]
end

-- What this caller was told of this call, if its answer was lost on the way; and how it is kept.
-- ARGV[1] is the caller, ARGV[2] the number of the call. Numbers only rise: one that comes late, when the
-- caller has long sent it again over another connection, is not carried out once more.
local function told_before()
  local last = call('GET', root .. 'y' .. ARGV[1])
  if not last then return nil end
  local space = last:find(' ', 1, true)
  local number = last:sub(1, space - 1)
  if number == ARGV[2] then return cmsgpack.unpack(last:sub(space + 1)) end
  if tonumber(number) > tonumber(ARGV[2]) then error('call ' .. ARGV[2] .. ' came too late') end
  return nil
end

local function keep_told(answer)
  call('SET', root .. 'y' .. ARGV[1], ARGV[2] .. ' ' .. cmsgpack.pack(answer), 'PX', 600000)
  return answer
end

-- Lua hands over no more than some thousand arguments at once. `key`: what stands before them each time, or
-- nothing.
local function in_slices(command, key, list)
  for at = 1, #list, 1000 do
    if key then
      call(command, key, unpack(list, at, math.min(at + 999, #list)))
    else
      call(command, unpack(list, at, math.min(at + 999, #list)))
    end
  end
end

local function append(lists, key, value)
  local list = lists[key]
  if not list then
    list = {}
    lists[key] = list
  end
  list[#list + 1] = value
end

local function count(counts, key, by)
  counts[key] = (counts[key] or 0) + by
end

local function is_waiting(state) return state == PENDING or state == RETRYING end
local function has_group(state) return state == FAILED or state == DEAD end

-- The first 113 bytes of the record of a task that runs, from those of the one that waited, and its claim.
local function running_head(head, claim)
  local since = claim:sub(9, 16)
  if #claim > CLAIM then head = claim:sub(CLAIM + 1, CLAIM + BEGINNING) .. head:sub(BEGINNING + 1) end
  return '\1' .. head:sub(2, 19) .. claim:sub(1, 8) .. since .. since .. head:sub(44, 67) ..
         claim:sub(17, 28) .. head:sub(80, 113)
end

-- The same of any task; "" if there is none. And its claim, if it runs.
local function head_of(id)
  local head = call('GETRANGE', root .. 't' .. id, 0, HEAD - 1)
  local claim = head ~= '' and call('HGET', root .. 'R', id)
  return claim and running_head(head, claim) or head, claim
end

-- `claim`: that of a task that runs.
local function attempts_text(id, claim)
  if claim and #claim > CLAIM then return claim:sub(CLAIM + BEGINNING + 1) end
  return call('GET', root .. 'a' .. id) or ''
end

local function attempts_of(head) return math.floor(head:byte(2) / 8) end

local function queue_of(record) return read('>I4', record, 96) end

-- The sorted set that a task in that state stands in.
local function place_of(state, record)
  if state == RUNNING then return root .. 'r' end
  if is_waiting(state) then
    return root .. 'w' .. queue_of(record) .. ':' .. record:byte(100)
  end
  return root .. 'e' .. state .. ':' .. queue_of(record)
end

-- Tells up to that many of those who wait for the queue; who has gone away meanwhile is passed over.
local function wake(name, many)
  while many > 0 do
    local who = call('ZPOPMIN', root .. 's' .. name)[1]
    if not who then
      call('SREM', root .. 'S', name)
      return
    end
    if call('PUBLISH', root .. 'i' .. who, name) > 0 then many = many - 1 end
  end
end

local function queue_number(name)
  local number = call('HGET', root .. 'q', name)
  return number and tonumber(number)
end

local function make_queue(name)
  local number = call('HINCRBY', root .. 'm', 'queue', 1)
  call('HSET', root .. 'q', name, number)
  call('HSET', root .. 'Q', number, name)
  return number
end

-- One without a task and without a setting is forgotten.
local function forget_queue_if_empty(number)
  local all = call('HVALS', root .. 'c' .. number)
  for _, value in ipairs(all) do
    if value ~= '0' then return end
  end
  local name = call('HGET', root .. 'Q', number)
  call('DEL', root .. 'c' .. number, root .. 'p' .. number)
  call('HDEL', root .. 'Q', number)
  if name then call('HDEL', root .. 'q', name) end
end
