// Optional peers that are installed, missing or broken, and loads that fail at first.
import { expect, test } from 'vitest'
import { importPeer, loadOnce } from './import-peer.ts'

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

test.each([
  ['Node', "Cannot find package 'pg' imported from /app/store.js", 'ERR_MODULE_NOT_FOUND'],
  ['Node, for require', "Cannot find module 'pg'", 'MODULE_NOT_FOUND'],
  ['Bun', 'Cannot find package "pg" from "/app/store.js"', 'ERR_MODULE_NOT_FOUND'],
  ['Bun without a code', "Cannot find module 'pg' from '/app/store.js'", undefined],
  ['Deno', "Cannot find package 'pg' imported from 'file:///app/store.js'", 'ERR_MODULE_NOT_FOUND'],
  ['Deno, by specifier', 'Could not find a matching package for "npm:pg@8.1"', undefined],
  ['Deno, without a version', "Could not resolve 'npm:pg'.", undefined],
])('a peer that %s does not find is named', async (_, message, code) => {
  const error = Object.assign(new TypeError(message), code !== undefined && { code })
  const loading = importPeer('pg', 'a store', () => Promise.reject(error), 'model_not_configured')
  await expect(loading).rejects.toMatchObject({
    code: 'model_not_configured',
    message: 'a store needs the package pg, which is not installed: npm install pg',
  })
})

test.each([
  ['another package', new Error('Cannot find package "pg-pool" from "/app/node_modules/pg/index.js"')],
  ['a scoped package', new Error("Could not resolve 'npm:@types/pg@8'")],
  ['a failure that mentions it', new Error("'pg' is too old")],
  ['nothing', undefined],
  ['null', null],
])('a load that fails with %s is reported as it failed', async (_, thrown) => {
  await expect(importPeer('pg', 'a store', () => Promise.reject(thrown))).rejects.toBe(thrown)
})

test('a load is shared until it fails, and the next call loads again', async () => {
  let loads = 0
  const load = loadOnce(async () => {
    loads += 1
    if (loads === 1) throw new Error('too many open files')
    return loads
  })
  expect(await Promise.allSettled([load(), load()])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  expect(loads).toBe(1)
  expect(await Promise.all([load(), load()])).toEqual([2, 2])
  expect(await load()).toBe(2)
})
