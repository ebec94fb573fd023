// Optional peers that are installed, missing or broken.
import { expect, test } from 'vitest'
import { importPeer } from './import-peer.ts'

const load = (name: string) => (): Promise<unknown> => import(/* @vite-ignore */ name)

test('a peer that is missing is named, with the command that installs it', async () => {
  const error = Object.assign(new Error("Cannot find package 'pg' imported from /app/store.js"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  await expect(importPeer('pg', 'a PostgreSQL store', () => Promise.reject(error))).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'a PostgreSQL store needs the package pg, which is not installed: npm install pg',
    cause: error,
  })
})

test('a peer that is there but lacks a package of its own, or fails, is reported as it failed', async () => {
  const lacks = Object.assign(new Error("Cannot find package 'pg-pool' imported from /app/node_modules/pg/index.js"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  await expect(importPeer('pg', 'a store', () => Promise.reject(lacks))).rejects.toBe(lacks)
  await expect(importPeer('pg', 'a store', () => Promise.reject(new TypeError('no')))).rejects.toThrow(TypeError)
})

test('a peer that is installed is imported', async () => {
  expect(await importPeer('vitest', 'a test', load('vitest'))).toHaveProperty('expect')
})
