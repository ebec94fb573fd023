// The contract of every model: the same situations on each wire, with tools in words and through the AI SDK.
import { describe, test } from 'vitest'
import { PROVIDER_KINDS } from './provider-kinds.test-kit.ts'
import { PROVIDER_SITUATIONS, WIRE_SITUATIONS, playProvider } from './provider-situations.ts'

describe.each(PROVIDER_KINDS)('$name', (kind) => {
  test.each(Object.entries(PROVIDER_SITUATIONS))('%s', (_situation, act) => playProvider(kind, act))
  for (const [name, act] of Object.entries(WIRE_SITUATIONS))
    test.skipIf(kind.isBridge)(name, () => playProvider(kind, act))
})
