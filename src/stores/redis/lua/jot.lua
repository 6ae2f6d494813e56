-- Puts a note on a shelf, or takes it away, if the one there has that version.
-- Arguments: caller, call, shelf, key, version (0: there is none; empty: any), and its text, or nothing to take it
--   away.
-- Returns its version afterwards (0: there is none), or -1 where it was another.
local before = told_before()
if before then return before end

local shelf, key, wanted, text = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local notes, keys = root .. 'v' .. shelf, root .. 'V' .. shelf
local known = call('HGET', notes, key)
local version = known and read('>i8', known) or 0
if wanted ~= '' and tonumber(wanted) ~= version then return keep_told(-1) end
if text then
  version = version + 1
  call('HSET', notes, key, i8(version) .. text)
  call('ZADD', keys, 0, key)
else
  version = 0
  call('HDEL', notes, key)
  call('ZREM', keys, key)
end
return keep_told(version)
