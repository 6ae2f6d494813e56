-- Moves the end of leases.
-- Arguments: end of the lease, 8 bytes; and for each claim 16 bytes id, 8 bytes token.
-- Returns a text with 1 (held) or 0 (lost) for each.
local answers, runs, heads = {}, {}, {}
local lease = exact(read('>i8', ARGV[1]))
for at = 2, #ARGV do
  local id = ARGV[at]:sub(1, 16)
  local head = call('HGET', root .. 'R', id)
  local is_held = head and head:sub(20, 27) == ARGV[at]:sub(17)
  answers[#answers + 1] = is_held and '1' or '0'
  if is_held then
    heads[#heads + 1] = id
    heads[#heads + 1] = head:sub(1, 67) .. ARGV[1] .. head:sub(76)
    runs[#runs + 1] = lease
    runs[#runs + 1] = head:sub(88, 95) .. id
  end
end
in_slices('ZADD', root .. 'r', runs)
in_slices('HSET', root .. 'R', heads)
return table.concat(answers)
