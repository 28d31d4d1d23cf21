-- NACK: this try failed (or was never begun). ARGV 5 tries  6 failures that open the breaker, 0 = off  7 its first and
-- 8 its longest pause (ms)  9 jitter 0..1  10 longest delay after 429 and 503 (ms), 0 = off
-- 11.. : (token, not before ms, reason, counts 1|0, sent or '', fault)*, fault: 0 the URL's  1 the host's  2 its load
-- Returns per token 1 queued again, 0 no try left (the lease stays until it is acknowledged), -1 the lease had expired.
local tries, FAILURES, FIRST, LONGEST, jitter = num(ARGV[5]), num(ARGV[6]), num(ARGV[7]), num(ARGV[8]), num(ARGV[9])
local SLOWEST, LOWEST = num(ARGV[10]), 4096 * PRIORITY
local tokens, answers = {}, {}
for i = 11, #ARGV, 6 do tokens[#tokens + 1] = ARGV[i] end
local found = read_leases(tokens)

-- Open: nobody asks the scope for a pause that doubles each time, with full jitter. Then one URL probes it.
local function open(scope, s)
  s.openings = s.openings + 1
  local low = math.min(FIRST / 2, LONGEST)
  local high = math.min(FIRST * 2 ^ math.min(s.openings, 30), LONGEST)
  local at = now + math.ceil(low + jitter * math.max(0, high - low))
  not_before(s, at)
  call('ZADD', WAIT, 'GT', at, scope)
  call('HSET', WHY, scope .. '\t', 'breaker: opened ' .. s.openings .. ' times in a row')
end
-- Twice as slow for everybody, once for all requests that were under way together.
local function slow_down(s, sent)
  if SLOWEST == 0 or sent == '' or num(sent) < s.slow_since then return end
  s.slow, s.slow_since = math.min((s.delay > 0 and s.delay or EASY) * 2, math.max(SLOWEST, s.base)), now
  s.delay = math.max(s.base, s.slow)
  not_before(s, now + s.delay)
end
-- What the failure says about the host. Returns whether it costs the URL a try, and its place in the queue.
local function judge(lease, s, fault, attempts, sent, counts)
  if fault == 2 then slow_down(s, sent) end
  if fault == 0 or FAILURES == 0 then
    no_verdict(lease.scope, lease.token)
    return counts, lease.score
  end
  if s.openings == 0 then
    if attempts == 0 then s.failures = s.failures + 1 end  -- further tries of one URL say nothing new about the host
    if s.failures >= FAILURES then open(lease.scope, s) end
    return counts, lease.score
  end
  if s.probe ~= lease.token then return 0, lease.score end  -- sent before it opened
  s.probe = ''
  open(lease.scope, s)
  return 0, call('HINCRBY', ST, 'sequence', 1) + LOWEST  -- the next probe is another URL
end

local function again(lease, at, reason, counts, sent, fault)
  local attempts, holds, rest = split(lease.member)
  local s, score = state(lease.scope), lease.score
  hang_up(lease, sent, 0)
  counts, score = judge(lease, s, fault, attempts, sent, counts)
  because(lease.scope, rest, reason)
  local member = join(attempts + counts, holds, rest)
  if counts == 1 and attempts + 1 >= tries then
    call('HSET', LEASE, lease.token, encode('d', lease.scope, score, lease.slot, member))
    return 0
  end
  forget({lease.token})
  count('queued', 1)
  if at > now then park(LATER, at, lease.scope, score, member) else push(lease.scope, score, member) end
  return 1
end
for i, token in ipairs(tokens) do
  local lease, at = found[i], 6 + 6 * i
  if not lease then
    answers[i] = -1
  elseif lease.wire == 'd' and num(ARGV[at + 2]) == 1 then
    answers[i] = 0  -- asked again after an unknown outcome
  else
    answers[i] = again(lease, num(ARGV[at]), ARGV[at + 1], num(ARGV[at + 2]), ARGV[at + 3], num(ARGV[at + 4]))
  end
end
save()
return answers
