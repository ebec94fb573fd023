// A misspelt option of a front is refused: ignored, it would leave the server open.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createChatSocket, createHandler } from '@baton/server/http'
import { createWebSocketFront } from '@baton/server/websocket'
import { expect, test } from 'vitest'

const host = createHost({
  agent: defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'hi' }) }) }),
})
const authenticate = (): undefined => undefined

test.each(['auth', 'authentication', 'authentificate', 'cors', 'path'])('createHandler refuses "%s"', (name) => {
  expect(() => createHandler(host, { [name]: authenticate })).toThrow(
    /has no field .* it is called "(authenticate|origins|basePath)"/,
  )
})

test.each(['auth', 'authenticat', 'tokens', 'origin'])('createWebSocketFront refuses "%s"', (name) => {
  expect(() => createWebSocketFront({ host, [name]: authenticate })).toThrow(
    /has no field .* it is called "(authenticate|token|origins)"/,
  )
})

test.each(['peer', 'limit'])('createChatSocket refuses "%s"', (name) => {
  expect(() => createChatSocket(host, { [name]: {} })).toThrow(/has no field .* "(peers|limits)"/)
})

test('a front without a host is refused, and what belongs to the environment is taken', () => {
  const missing = {} as { host: typeof host } // what the compiler would refuse
  expect(() => createWebSocketFront(missing)).toThrow(/needs a host/)
  expect(() => createHandler(missing.host)).toThrow(/needs a host/)
  expect(() => createChatSocket(missing.host)).toThrow(/needs a host/)
  const world = { authenticate, ...createNodeEnvironment() }
  expect(createHandler(host, world)).toBeTypeOf('function')
})
