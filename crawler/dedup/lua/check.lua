-- Do we have these texts? What we do not have is claimed for whoever asks. One step, so of workers that meet a mirror
-- at once exactly one passes.
-- KEYS[1] prefix, hash tag included   ARGV[1] bands   ARGV[2] positions of a signature   ARGV[3] owners a list, or
-- signatures a string   ARGV[4..] five a question:
--   caller's URL, 10 bytes of the exact digest, signature (one byte a position; empty: compare exactly only),
--   band hashes (four bytes each, side by side), agreeing positions that make a near duplicate
-- Answers one item a question: 0 pass, or {owner's URL, agreeing positions; -1 for the same text}.
local P, bands, width, CHUNK = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local call, floor = redis.call, math.floor
local FULL = 50 -- documents a bucket
local documents = tonumber(call('GET', P .. ':count') or 0)

-- The tables are linear hash tables (Litwin 1980) of small hashes, `e` for exact digests, `1`, `2`, … for the bands. All
-- have as many buckets as the number of documents asks for, so that a small index is small and none outgrows the
-- server's compact encoding (hash-max-listpack-entries).
local buckets = floor(documents / FULL) + 1
local size = 1
while size * 2 <= buckets do size = size * 2 end
local names = {e = P .. ':e:'}
for band = 1, bands do names[band] = P .. ':' .. band .. ':' end
local function hash_of(field) return (struct.unpack('<I4', field)) end
local function key(table_name, field)
  local hash = hash_of(field)
  local b = hash % (2 * size)
  if b >= buckets then b = hash % size end
  return names[table_name] .. b
end
local function split(table_name)
  local from, to = P .. ':' .. table_name .. ':' .. (buckets - size), P .. ':' .. table_name .. ':' .. buckets
  local entries, moved, gone = call('HGETALL', from), {}, {}
  for i = 1, #entries, 2 do
    if hash_of(entries[i]) % (2 * size) == buckets then
      gone[#gone + 1] = entries[i]
      moved[#moved + 1] = entries[i]
      moved[#moved + 1] = entries[i + 1]
    end
  end
  if #gone > 0 then
    call('HDEL', from, unpack(gone))
    call('HSET', to, unpack(moved))
  end
end
local function split_one()
  split('e')
  for band = 1, bands do split(band) end
  buckets = buckets + 1
  if buckets == 2 * size then size = buckets end
end

local function owner_of(number) return call('LINDEX', P .. ':u:' .. floor(number / CHUNK), number % CHUNK) end
local function count_duplicate(number)
  call('BITFIELD', P .. ':d:' .. floor(number / CHUNK), 'OVERFLOW', 'SAT', 'INCRBY', 'u32', '#' .. number % CHUNK, 1)
end
local function agreement(mine, number)
  local at = (number % CHUNK) * width
  local theirs = {string.byte(call('GETRANGE', P .. ':s:' .. floor(number / CHUNK), at, at + width - 1), 1, -1)}
  local same = 0
  for i = 1, width do
    if mine[i] == theirs[i] then same = same + 1 end
  end
  return same
end

-- Which owner is most similar, which of these the oldest? `own` is the caller's entry with this very signature.
-- `free` gets the bands that nobody owns yet, as pairs of bucket and field.
local function compare(caller, signature, packed, needed, free)
  local mine, met, own, best, best_same, best_owner = {string.byte(signature, 1, -1)}, {}, nil, nil, 0, nil
  for band = 1, bands do
    local field = string.sub(packed, 4 * band - 3, 4 * band)
    local bucket = key(band, field)
    local number = tonumber(call('HGET', bucket, field))
    if number and met[number] == nil then
      local owner = owner_of(number)
      met[number] = owner ~= '' -- an owner that was withdrawn leaves an empty URL
      if met[number] then
        local same = agreement(mine, number)
        if owner == caller then
          if same == width then own = number end
        elseif same >= needed and (same > best_same or (same == best_same and number < best)) then
          best, best_same, best_owner = number, same, owner
        end
      end
    end
    if not (number and met[number]) then free[#free + 1] = {bucket, field} end
  end
  return own, best, best_same, best_owner
end

local function insert(caller, exact, digest, signature, free)
  local number, chunk, place = string.format('%d', documents), floor(documents / CHUNK), documents % CHUNK
  call('RPUSH', P .. ':u:' .. chunk, caller)
  call('HSET', exact, digest, number)
  if signature ~= '' then
    local signatures = P .. ':s:' .. chunk
    if place == 0 then call('SETRANGE', signatures, CHUNK * width - 1, '\0') end -- it need not grow later
    call('SETRANGE', signatures, place * width, signature)
    for i = 1, #free do call('HSET', free[i][1], free[i][2], number) end
  end
  documents = documents + 1
  call('SET', P .. ':count', documents)
  if documents >= FULL * buckets then split_one() end
end

local function judge(caller, digest, signature, packed, needed)
  local exact = key('e', digest)
  local number = tonumber(call('HGET', exact, digest))
  local owner = number and owner_of(number) or ''
  if owner == caller then return 0 end -- delivered again: it passed before, so it passes again
  if owner ~= '' then
    count_duplicate(number)
    return {owner, -1}
  end
  local free = {}
  if signature ~= '' then
    local own, best, same, best_owner = compare(caller, signature, packed, needed, free)
    if own then
      call('HSET', exact, digest, own)
      return 0
    end
    if best then
      count_duplicate(best)
      return {best_owner, same}
    end
  end
  insert(caller, exact, digest, signature, free)
  return 0
end

local answers = {}
for i = 4, #ARGV, 5 do
  answers[#answers + 1] = judge(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], tonumber(ARGV[i + 4]))
end
return answers
