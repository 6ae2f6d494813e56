-- Moves the end of leases.
-- Arguments: end of the lease, 8 bytes; and for each claim 16 bytes id, 8 bytes token.
-- Returns a text with 1 (held) or 0 (lost) for each.
local answers, runs, claims = {}, {}, {}
local lease = exact(read('>i8', ARGV[1]))
for at = 2, #ARGV do
  local id = ARGV[at]:sub(1, 16)
  local claim = call('HGET', root .. 'R', id)
  local is_held = claim and claim:sub(1, 8) == ARGV[at]:sub(17)
  answers[#answers + 1] = is_held and '1' or '0'
  if is_held then
    claims[#claims + 1] = id
    claims[#claims + 1] = claim:sub(1, 16) .. ARGV[1] .. claim:sub(25)
    runs[#runs + 1] = lease
    runs[#runs + 1] = call('GETRANGE', root .. 't' .. id, 87, 94) .. id
  end
end
in_slices('ZADD', root .. 'r', runs)
in_slices('HSET', root .. 'R', claims)
return table.concat(answers)
