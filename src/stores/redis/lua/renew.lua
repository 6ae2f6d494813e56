-- Moves the end of leases.
-- Arguments: end of the lease, 8 bytes; and for each claim 16 bytes id, 8 bytes token.
-- Returns a text with 1 (held) or 0 (lost) for each.
local answers, runs = {}, {}
local lease = read('>i8', ARGV[1])
for at = 2, #ARGV do
  local id = ARGV[at]:sub(1, 16)
  local head = call('GETRANGE', root .. 't' .. id, 0, 94)
  local is_held = head ~= '' and head:byte(1) == RUNNING and head:sub(20, 27) == ARGV[at]:sub(17)
  answers[#answers + 1] = is_held and '1' or '0'
  if is_held then
    call('SETRANGE', root .. 't' .. id, 67, ARGV[1])
    runs[#runs + 1] = lease
    runs[#runs + 1] = head:sub(88, 95) .. id
  end
end
in_slices('ZADD', root .. 'r', runs)
return table.concat(answers)
