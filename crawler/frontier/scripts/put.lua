-- PUT: what is new goes into the seen-set and its queue. ARGV 5.. : page cap, then (hash, scope, priority, member)*
-- Returns a list: 0 queued, 1 seen, 2 capped, 3 scope purged.
local cap = num(ARGV[5])
local answers, queues = {}, {}
local counters = call('HMGET', ST, 'seen', 'buckets', 'sequence')
local seen, buckets, sequence = num(counters[1] or 0), num(counters[2] or 1), num(counters[3] or 0)
local had, size = seen, 1
while size * 2 <= buckets do size = size * 2 end

-- The seen-set is a linear hash table (Litwin 1980) of intsets: buckets are split one at a time so that none outgrows
-- 512 integers, beyond which the server would switch to an encoding of eight times the size.
local function home(hash)
  local v = num(string.sub(hash, -9))
  local b = v % (2 * size)
  if b >= buckets then b = v % size end
  return b
end
local function bucket(n) return P .. 's:' .. integer(n) end
local function split_one()
  local moved = {}
  for _, hash in ipairs(call('SMEMBERS', bucket(buckets - size))) do
    if num(string.sub(hash, -9)) % (2 * size) == buckets then moved[#moved + 1] = hash end
  end
  if #moved > 0 then
    call('SREM', bucket(buckets - size), unpack(moved))
    call('SADD', bucket(buckets), unpack(moved))
  end
  buckets = buckets + 1
  if buckets == 2 * size then size = buckets end
end
local pages = {}
local function full(scope)
  if cap == 0 then return false end
  pages[scope] = pages[scope] or num(call('HGET', P .. 'pages', scope) or 0)
  return pages[scope] >= cap
end

local purged_any = call('EXISTS', PURGED) == 1
for i = 6, #ARGV, 4 do
  local hash, scope, answer = ARGV[i], ARGV[i + 1], 0
  local key = bucket(home(hash))
  if purged_any and call('SISMEMBER', PURGED, scope) == 1 then
    answer = 3
  elseif full(scope) then
    answer = call('SISMEMBER', key, hash) == 1 and 1 or 2
  elseif call('SADD', key, hash) == 0 then
    answer = 1
  else
    seen, sequence = seen + 1, sequence + 1
    if cap > 0 then pages[scope] = pages[scope] + 1 end
    local q = queues[scope]
    if not q then q = {}; queues[scope] = q end
    q[#q + 1] = integer(sequence - num(ARGV[i + 2]) * 1099511627776)
    q[#q + 1] = ARGV[i + 3]
    if seen > 200 * buckets and buckets < 2097152 then split_one() end
  end
  answers[#answers + 1] = answer
end
for scope, n in pairs(pages) do call('HSET', P .. 'pages', scope, n) end
local names = {}
for scope, q in pairs(queues) do
  call('ZADD', queue(scope), unpack(q))
  names[#names + 1] = scope
end
load(names)
for _, scope in ipairs(names) do state(scope) end
if seen > had then
  call('HSET', ST, 'seen', integer(seen), 'sequence', integer(sequence), 'buckets', integer(buckets))
  count('queued', seen - had)
end
save()
return answers
