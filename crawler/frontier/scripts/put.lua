-- PUT: what is new goes into the seen-set and its queue. ARGV 5 most URLs in a queue, 0 = any number
-- 6 most pages of all scopes, 0 = any number  7 most bytes that URLs of a scope may take here, 0 = any number
-- 8.. : groups (scope, page cap or 0, 1 = pages or 0 = lists, n, then n times (hash, priority or v, member)).
-- Returns a list: 0 queued, 1 seen, 2 capped, 3 scope purged, 4 no bytes left for the scope.
local sub, add = string.sub, table.insert
local most, EXPRESS = num(ARGV[5]), 100
local counters = call('HMGET', ST, 'seen', 'buckets', 'sequence', 'lists')
local seen, buckets, sequence = num(counters[1] or 0), num(counters[2] or 1), num(counters[3] or 0)
local had, had_buckets, size = seen, buckets, 1
local lists = num(counters[4] or 0)  -- sitemaps among the seen: they are no pages
local had_lists, everywhere = lists, num(ARGV[6]) == 0 and math.huge or num(ARGV[6]) - (seen - lists)
while size * 2 <= buckets do size = size * 2 end

-- The seen-set is a linear hash table (Litwin 1980) of intsets: buckets are split one at a time so that none outgrows
-- 512 integers, beyond which the server would switch to an encoding of eight times the size.
local BUCKET = P .. 's:'
local function home(hash)
  local v = num(sub(hash, -9))
  local b = v % (2 * size)
  if b >= buckets then b = v % size end
  return BUCKET .. b
end
local function split_one()
  local from, moved, n, both = BUCKET .. (buckets - size), {}, 0, 2 * size
  for _, hash in ipairs(call('SMEMBERS', from)) do
    if sub(hash, -9) % both == buckets then
      n = n + 1
      moved[n] = hash
    end
  end
  if n > 0 then
    call('SREM', from, unpack(moved))
    call('SADD', BUCKET .. buckets, unpack(moved))
  end
  buckets = buckets + 1
  if buckets == both then size = buckets end
end

while seen + #ARGV / 3 > 200 * buckets and buckets < 2097152 do split_one() end  -- as if all of it were new

-- Page caps count what was ever taken of a scope, from the first put with a cap on.
local pages = {}
local function room(scope, cap)
  if cap == 0 then return math.huge end
  pages[scope] = pages[scope] or num(call('HGET', P .. 'pages', scope) or 0)
  return cap - pages[scope]
end

-- What a scope takes up, as the server estimates it from a few of its entries.
local BYTES = num(ARGV[7])
local taken_up = {}
local function bytes_left(scope)
  if BYTES == 0 then return math.huge end
  if not taken_up[scope] then
    local sum = 0
    for _, key in ipairs({queue(scope), overflow(scope), P .. 'z:' .. scope}) do
      sum = sum + num(call('MEMORY', 'USAGE', key) or 0)
    end
    taken_up[scope] = sum
  end
  return BYTES - taken_up[scope]
end

-- new[scope] = what goes into its queue: priority, member, … in their order; again[scope] = links that were put before
local new, names, answers, m, again = {}, {}, {}, 0, {}
local purged_any, i = call('EXISTS', PURGED) == 1, 8
while ARGV[i] do
  local scope, cap, pages_or_lists, last = ARGV[i], num(ARGV[i + 1]), ARGV[i + 2], i + 1 + 3 * num(ARGV[i + 3])
  local purged, left, list, taken = purged_any and call('SISMEMBER', PURGED, scope) == 1, room(scope, cap), new[scope], 0
  local counted = pages_or_lists == '1'
  if counted and everywhere < left then left = everywhere end
  local bytes = not purged and bytes_left(scope) or 0
  for at = i + 4, last, 3 do
    local answer, hash = 0, ARGV[at]
    if purged then
      answer = 3
    elseif bytes < #ARGV[at + 2] and (num(ARGV[at + 1]) or 0) < EXPRESS then
      answer = call('SISMEMBER', home(hash), hash) == 1 and 1 or 4
    elseif taken >= left then
      answer = call('SISMEMBER', home(hash), hash) == 1 and 1 or 2
    elseif call('SADD', home(hash), hash) == 0 then
      answer = 1
      if ARGV[at + 1] == 'v' then
        again[scope] = again[scope] or {}
        add(again[scope], ARGV[at + 2])
      end
    else
      if not list then
        list = {}
        new[scope] = list
        names[#names + 1] = scope
      end
      list[#list + 1] = ARGV[at + 1]
      list[#list + 1] = ARGV[at + 2]
      taken, bytes = taken + 1, bytes - #ARGV[at + 2]
    end
    m = m + 1
    answers[m] = answer
  end
  if taken_up[scope] then taken_up[scope] = BYTES - bytes end
  seen = seen + taken
  if cap > 0 then pages[scope] = pages[scope] + taken end
  if counted then everywhere = everywhere - taken else lists = lists + taken end
  i = last + 3
end
for scope, n in pairs(pages) do call('HSET', P .. 'pages', scope, n) end

-- A queue that is full overflows into a list, in the order of arrival; seeds and sitemaps always find a place. Among
-- links whose priority is their value (v) the better ones do, and the worst of the queue make room for them.
local function worst_of(scope)
  local last = call('ZRANGE', queue(scope), -1, -1, 'WITHSCORES')
  return last[2] and -math.floor(num(last[2]) / PRIORITY) or math.huge
end
local function enqueue(scope, list, spilled)
  local hot, cold, aside, view, worst, low, surplus = {}, {}, {}, nil, nil, math.huge, 0
  local free = most == 0 and math.huge or spilled > 0 and 0 or most - call('ZCARD', queue(scope))
  for at = 1, #list, 2 do
    if not num(list[at]) then
      view = view_of(scope, list, 2)
      local rich = begin_runs(view, list)
      if rich and again[scope] then come_nearer(scope, view, rich, again[scope]) end
      break
    end
  end
  for at = 1, #list, 2 do
    local priority, member = num(list[at]), list[at + 1]
    local by_value = not priority
    if by_value then
      priority = rank(view, member)
      if priority and free <= 0 then
        worst = worst or worst_of(scope)
        if priority > math.min(worst, low) then free, surplus = 1, surplus + 1 end
      end
    end
    if not priority then
      aside[#aside + 1] = member
    elseif free > 0 or priority >= EXPRESS then
      sequence, free, low = sequence + 1, free - 1, math.min(low, priority)
      hot[#hot + 1] = sequence - priority * PRIORITY
      hot[#hot + 1] = member
    else
      cold[#cold + 1] = (by_value and 'v' or list[at]) .. ' ' .. member
    end
  end
  local left = spilled + #cold
  if #cold > 0 then call('RPUSH', overflow(scope), unpack(cold)) end
  if surplus > 0 then
    left = place(scope, hot, most, left)
  elseif #hot > 0 then
    call('ZADD', queue(scope), unpack(hot))
  end
  if left > spilled then hset(SPILLED, scope, left) end
  if #aside > 0 then set_aside(scope, view, aside) end
  return #hot + #cold > 0
end
local asleep = {}
if #names > 0 then
  local ready, spilled = call('ZMSCORE', READY, unpack(names)), special(SPILLED, names)
  for k, scope in ipairs(names) do
    local filled = enqueue(scope, new[scope], num(spilled[k] or 0))
    if filled and not ready[k] then asleep[#asleep + 1] = scope end
  end
end
load(asleep)
for _, scope in ipairs(asleep) do state(scope).filled = true end
if seen > had or buckets > had_buckets then call('HSET', ST, 'seen', seen, 'sequence', sequence, 'buckets', buckets) end
if lists > had_lists then call('HSET', ST, 'lists', lists) end
count('queued', seen - had)
save()
return answers
