-- Claim an empty index for a scheme, or answer the scheme it was made with.
-- KEYS[1] prefix, hash tag included   ARGV[1] scheme as canonical JSON
redis.call('SETNX', KEYS[1] .. ':scheme', ARGV[1])
return redis.call('GET', KEYS[1] .. ':scheme')
