// Usage counts of an answer: which are kept and which are ignored.
import { expect, test } from 'vitest'
import { readUsage as readBedrockUsage } from '../bedrock/decode-stream.ts'
import { readUsage } from './decode-stream.ts'

test('counts below nothing are none, here and behind Bedrock', () => {
  expect(readUsage({ input_tokens: -1, cache_read_input_tokens: -5, output_tokens: -1 })).toEqual({})
  expect(readBedrockUsage({ inputTokens: -1, cacheReadInputTokens: -5, outputTokens: -1 })).toEqual({})
})
