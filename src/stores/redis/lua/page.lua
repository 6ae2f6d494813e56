-- A part of a sorted set, from a place on that need not be there any more. Changes nothing.
-- Arguments: the key after the tag, "up" or "down", how many, and the place to begin behind: score and
--   number; or nothing: from the start.
-- Returns members and scores by turns.
local key = root .. ARGV[1]
local up = ARGV[2] == 'up'
local many = tonumber(ARGV[3])
local size = call('ZCARD', key)
local from = 0

-- How many stand at or before the place.
if ARGV[4] then
  local score, number = tonumber(ARGV[4]), tonumber(ARGV[5])
  local low, high = 0, size
  while low < high do
    local middle = math.floor((low + high) / 2)
    local at = up and call('ZRANGE', key, middle, middle, 'WITHSCORES') or
               call('ZREVRANGE', key, middle, middle, 'WITHSCORES')
    local its_score, its_number = tonumber(at[2]), read('>i8', at[1])
    local is_behind
    if its_score ~= score then
      is_behind = its_score > score
    else
      is_behind = its_number > number
    end
    if not up then is_behind = not is_behind and not (its_score == score and its_number == number) end
    if is_behind then high = middle else low = middle + 1 end
  end
  from = low
end
return call(up and 'ZRANGE' or 'ZREVRANGE', key, from, from + many - 1, 'WITHSCORES')
