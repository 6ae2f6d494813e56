-- Settings of a queue.
-- Arguments: queue, and pairs of setting (paused, concurrency, backlog) and value.
-- Returns 1.
local queue = queue_number(ARGV[1]) or make_queue(ARGV[1])
for at = 2, #ARGV, 2 do
  call('HSET', root .. 'c' .. queue, ARGV[at], ARGV[at + 1])
end
forget_queue_if_empty(queue)
wake(ARGV[1], 1000)  -- whoever waits may have been waiting for just that
return 1
