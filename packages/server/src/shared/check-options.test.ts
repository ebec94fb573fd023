// A misspelt option of a front is refused: ignoring it would leave the server open.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createChatSocket, createHandler, createNodeListener } from '@baton/server/http'
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
  expect(() => createWebSocketFront(host, { [name]: authenticate })).toThrow(
    /has no field .* it is called "(authenticate|token|origins)"/,
  )
})

test.each(['token', 'tokens', 'apiKey', 'metricsToken'])(
  'createHandler, which checks no "%s", does not ignore it and let everyone in',
  (name) => {
    const refusal = expect.objectContaining({
      code: 'invalid_option',
      message: `createHandler has no field "${name}"`,
      hint: expect.stringContaining('authenticate') as string,
    })
    expect(() => createHandler(host, { [name]: 'secret' })).toThrow(refusal)
  },
)

test('createHandler, which sees no connection, says where proxies are named', () => {
  const refusal = expect.objectContaining({ hint: expect.stringContaining('createNodeListener(') as string })
  const options: object = { trustedProxies: 1 } // refused by the compiler
  expect(() => createHandler(host, options)).toThrow(refusal)
})

test.each(['peer', 'limit'])('createChatSocket refuses "%s"', (name) => {
  expect(() => createChatSocket(host, { [name]: {} })).toThrow(/has no field .* "(peers|limits)"/)
})

test.each<[object, RegExp]>([
  [{ authenticate: 'token' }, /authenticate must be a function, not "token"/],
  [{ hosts: 'localhost' }, /hosts must be an array, not "localhost"/],
  [{ origins: 'https://app.example' }, /origins must be an array, .* not "https/],
  [{ limits: { stream: 4 } }, /limits of createHandler has no field "stream"; it is called "streams" here/],
  [{ limits: { streams: '4' } }, /limits.streams must be a number, 0 or more, not "4"/],
  [{ allow: { model: ['a'] } }, /allow of createHandler has no field "model"; it is called "models" here/],
  [{ allow: { models: 'any-model' } }, /allow.models must be an array or "any", not "any-model"/],
  [{ peers: { address: 'ws://10.0.0.5:8080' } }, /the secret of the peers .* at least 16/],
  [
    { peers: { adress: 'ws://10.0.0.5:8080', secret: 's' } },
    /peers has no field "adress"; it is called "address" here/,
  ],
  [{ peers: 'ws://10.0.0.5:8080' }, /peers must be an object, not "ws/],
  [{ origins: true }, /origins must be an array, .* not true/],
  [{ allow: { temperature: 'no' } }, /allow.temperature must be true or false, not "no"/],
  [{ allow: { maxOutputTokens: NaN } }, /allow.maxOutputTokens must be a number, 0 or more, not NaN/],
  [{ cancelWaiting: 'no' }, /cancelWaiting must be true or false, not "no"/],
  [{ log: null }, /log must be an object, not null/],
  [{ clock: 'system' }, /clock must be an object, not "system"/],
  [{ newId: 'uuid' }, /newId must be a function, not "uuid"/],
])('createHandler refuses %o', (options, message) => {
  expect(() => createHandler(host, options)).toThrow(message)
})

test.each([
  [{ port: '8080' }, /port must be a whole number from 0 to 65535, not "8080"/],
  [{ port: null }, /port must be a whole number from 0 to 65535, not null/],
  [{ port: 70_000 }, /port must be a whole number from 0 to 65535, not 70000/],
  [{ address: 7 }, /address must be text, not 7/],
  [{ tls: 'cert.pem' }, /tls must be an object, not "cert.pem"/],
  [{ log: 'info' }, /log must be an object, not "info"/],
  [{ clientModels: 'phone' }, /clientModels must be an array, not "phone"/],
])('createWebSocketFront refuses %o', (options: object, message) => {
  expect(() => createWebSocketFront(host, options)).toThrow(message)
})

test('createWebSocketFront refuses a limit that does not exist', () => {
  const limits: object = { heldMS: 4 } // refused by the compiler
  expect(() => createWebSocketFront(host, { limits })).toThrow(/no field "heldMS"; it is called "heldMs" here/)
})

test.each([
  'ws://me:hidden@h:1',
  'ws://:hidden@h:1',
  'ws://h:1/?token=hidden',
  'ws://h:1/#hidden',
  'ws://me:hidden@h:99999',
])('an address for peers that others would read is refused, and what is secret in it is not shown: %s', (address) => {
  const create = () => createHandler(host, { peers: { address, secret: 'x'.repeat(40) } })
  expect(create).toThrow(/the address for peers must be like/)
  expect(create).not.toThrow(/hidden/)
})

test.each(['token', 'metricsToken'])(
  'an empty %s, and one that is no text, would let everybody in or no connection live',
  (name) => {
    for (const token of ['', ['right', '']])
      expect(() => createWebSocketFront(host, { [name]: token })).toThrow(
        `${name} is empty, so any caller could present it`,
      )
    for (const token of [null, 5, ['right', null], [undefined]])
      expect(() => createWebSocketFront(host, { [name]: token })).toThrow(
        `${name} must be a string or an array of strings`,
      )
  },
)

test.each([NaN, -1, 0.5, '1', null])(
  'proxies that are no count would let clients choose their address: %o',
  (trustedProxies) => {
    const message = /trustedProxies must be a whole number, 0 or more/
    const proxies = trustedProxies as number // refused by the compiler
    expect(() => createNodeListener(createHandler(host), { trustedProxies: proxies })).toThrow(message)
    expect(() => createWebSocketFront(host, { trustedProxies: proxies })).toThrow(message)
  },
)

test.each([null, 'x', 5])('options that are none are refused: %o', (options) => {
  const create = createHandler as (...given: unknown[]) => unknown // refused by the compiler
  expect(() => create(host, options)).toThrow('createHandler: the options must be an object')
})

test('createNodeListener refuses what is no handler, and a misspelt option', () => {
  const listen = createNodeListener as (...given: unknown[]) => unknown // refused by the compiler
  expect(() => listen(host)).toThrow(/needs the function of createHandler/)
  expect(() => listen(createHandler(host), { trustProxies: 1 })).toThrow(/it is called "trustedProxies" here/)
})

test('a front without a host is refused, and what belongs to the environment is taken', () => {
  const missing = {} as { host: typeof host } // refused by the compiler
  expect(() => createWebSocketFront(missing.host)).toThrow(/needs a host/)
  expect(() => createHandler(missing.host)).toThrow(/needs a host/)
  expect(() => createChatSocket(missing.host)).toThrow(/needs a host/)
  const world = { authenticate, ...createNodeEnvironment() }
  expect(createHandler(host, world)).toBeTypeOf('function')
})

test.each([
  ['path', 'Its paths are fixed'],
  ['server', 'createNodeListener'],
  ['noServer', 'createNodeListener'],
  ['host', 'address'],
  ['onConnection', 'observers'],
  ['onMessage', 'observers'],
  ['verifyClient', 'authenticate'],
  ['handleProtocols', 'subprotocol'],
  ['maxPayload', 'limits: { socketBytes'],
  ['perMessageDeflate', 'does not compress'],
  ['clientTracking', 'front.drain'],
  ['backlog', 'limits'],
])('createWebSocketFront refuses the option "%s" of ws, and says what to write', (name, told) => {
  const refusal = expect.objectContaining({
    code: 'invalid_option',
    message: expect.stringContaining(`createWebSocketFront has no field "${name}"`) as string,
    hint: expect.stringContaining(told) as string,
  })
  expect(() => createWebSocketFront(host, { [name]: '/ws' })).toThrow(refusal)
})
