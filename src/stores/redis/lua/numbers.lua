-- Tasks by their number, the latest first. Changes nothing.
-- Arguments: below which number (or nothing: all), how many.
-- Returns the number to go on below ("" at the end), and for each 8 bytes number, 16 bytes id.
local MOST_BUCKETS = 64
local below = tonumber(ARGV[1]) or tonumber(call('HGET', root .. 'm', 'number') or 0) + 1
local many = tonumber(ARGV[2])
local answer = { '' }
local buckets = call('ZREVRANGEBYSCORE', root .. 'N', math.floor((below - 2) / 256), '-inf', 'LIMIT', 0,
                     MOST_BUCKETS + 1)
for at, bucket in ipairs(buckets) do
  if at > MOST_BUCKETS or #answer > many then
    answer[1] = exact(below)
    return answer
  end
  local first = tonumber(bucket) * 256 + 1
  local ids = call('GET', root .. 'n' .. bucket) or ''
  local top = math.min(below - 1, first + #ids / SLOT - 1)
  for number = top, first, -1 do
    local id = ids:sub((number - first) * SLOT + 1, (number - first + 1) * SLOT)
    if id ~= NO_TASK then
      if #answer > many then
        answer[1] = exact(below)
        return answer
      end
      answer[#answer + 1] = i8(number) .. id:sub(2)
    end
    below = number
  end
  below = first
end
return answer
