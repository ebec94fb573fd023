// The memory store fulfils the contract of all stores.
import { storeContract } from '@baton/core/testing'
import { test } from 'vitest'
import { createMemoryStore } from './memory-store.ts'

for (const { name, skip, run } of storeContract({ open: async (clock) => createMemoryStore({ clock }) }))
  test(skip === undefined ? name : `${name} (skipped: ${skip})`, { skip: skip !== undefined }, run)
