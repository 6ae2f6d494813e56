-- Tells records. Changes nothing.
-- Arguments: "full" or "list", and the ids.
-- Returns four texts for each: see telling.lua.
local answer = {}
for at = 2, #ARGV do
  tell_record(answer, ARGV[at], ARGV[1] == 'full')
end
return answer
