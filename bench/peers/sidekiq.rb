# Sidekiq for bench/peers, put together as its own load test does it. The same command line and the same
# conversation as of roles.mjs. A job counts as done when its handler has returned: Sidekiq takes a job off the
# queue before it runs it, and says nothing to Redis afterwards.
$TESTING = false
require "json"
require "optparse"
require "sidekiq"
require "sidekiq/cli"
require "sidekiq/launcher"

options = {tasks: 1000, batch: 1000, "in-flight": 2, payload: 200, rate: 0, "warm-up": 0,
           concurrency: 10, attempts: 1, seconds: 60}
OptionParser.new do |parser|
  parser.on("--url URL")
  parser.on("--fails")
  options.keys.each { |name| parser.on("--#{name} N", Integer) }
end.parse!(ARGV, into: options)
ROLE = ARGV.fetch(0)
OPTIONS = options.freeze

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

def say(line)
  $stdout.puts(line)
  $stdout.flush
end

# Counts what has ended, on whichever thread.
class Ended
  attr_reader :last, :count, :times_ms

  def initialize(all)
    @all, @count, @last, @times_ms = all, 0, 0, []
    @mutex, @changed = Mutex.new, ConditionVariable.new
  end

  def one(at)
    @mutex.synchronize do
      @last = now
      @times_ms << (@last - at) * 1000 if at > 0
      @changed.signal if (@count += 1) == @all
    end
  end

  def wait(seconds)
    @mutex.synchronize { @changed.wait(@mutex, seconds) if @count < @all }
  end
end
ENDED = Ended.new(OPTIONS[:tasks])

class Nothing
  include Sidekiq::Worker
  sidekiq_options retry: OPTIONS[:attempts] - 1

  def perform(at, _x)
    raise "connection reset by peer" if OPTIONS[:fails]
    ENDED.one(at)
  end
end

# Sidekiq waits for at least a second before a retry, and looks for those that are due every few seconds. To
# compare how fast failing tasks go through their attempts, it waits for nothing here and looks all the time.
module NoWait
  def delay_for(*) = 0
end
module LooksAtOnce
  def initial_wait = nil
  def random_poll_interval = 0.005
end

Sidekiq.logger.level = Logger::FATAL # standard output is for the conversation

# Over the client that it comes with: that of hiredis is no faster here.
def redis = {url: OPTIONS[:url]}

def filler = "x" * [OPTIONS[:payload] - '[0,""]'.size, 0].max

def submit_in_bulk
  left = OPTIONS[:tasks]
  mutex = Mutex.new
  threads = OPTIONS[:"in-flight"].times.map do
    Thread.new do
      loop do
        share = mutex.synchronize { [left, OPTIONS[:batch]].min.tap { |taken| left -= taken } }
        break if share == 0
        Sidekiq::Client.push_bulk("class" => Nothing, "args" => Array.new(share) { [0, filler] })
      end
    end
  end
  threads.each(&:join)
end

# Several threads, so that one that waits for its answer keeps no other from its time.
def submit_at_rate
  began = now
  following = -1
  mutex = Mutex.new
  threads = 8.times.map do
    Thread.new do
      loop do
        i = mutex.synchronize { following += 1 }
        break if i >= OPTIONS[:tasks]
        early = began + i.fdiv(OPTIONS[:rate]) - now
        sleep(early) if early > 0
        Nothing.perform_async(i < OPTIONS[:"warm-up"] ? 0 : now, filler)
      end
    end
  end
  threads.each(&:join)
end

def submit
  Sidekiq.redis = redis.merge(size: 20)
  Sidekiq.redis(&:ping)
  say("ready")
  $stdin.gets
  began = now
  OPTIONS[:rate] > 0 ? submit_at_rate : submit_in_bulk
  say(JSON.generate(began: began, ended: now))
end

def work
  Sidekiq.options[:concurrency] = OPTIONS[:concurrency]
  Sidekiq.options[:queues] = ["default"]
  Sidekiq.options[:timeout] = 1
  Sidekiq.redis = redis.merge(size: OPTIONS[:concurrency] + 5)
  Sidekiq.death_handlers << ->(job, _error) { ENDED.one(job["args"][0]) }
  if OPTIONS[:fails]
    Sidekiq::JobRetry.prepend(NoWait)
    Sidekiq::Scheduled::Poller.prepend(LooksAtOnce)
  end
  Sidekiq.redis(&:ping)
  launcher = Sidekiq::Launcher.new(Sidekiq.options)
  say("ready")
  $stdin.gets
  began = now
  launcher.run
  say("started")
  ENDED.wait(OPTIONS[:seconds])
  say(JSON.generate(began: began, ended: ENDED.last, done: ENDED.count, times_ms: ENDED.times_ms))
end

ROLE == "submit" ? submit : work
$stdin.gets
exit!(0)
