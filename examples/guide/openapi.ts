// An agent with two operations of an API described by an OpenAPI document. The API is a small one in this program.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { fromOpenApi } from '@baton/tools/openapi'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const document = {
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1' },
  servers: [{ url: 'https://weather.example.com' }],
  paths: {
    '/cities/{city}/weather': {
      get: {
        operationId: 'getWeather',
        summary: 'The weather of a city today',
        parameters: [
          { name: 'city', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'units', in: 'query', schema: { enum: ['celsius', 'fahrenheit'] } },
        ],
        responses: { 200: { description: 'Found', content: { 'application/json': {} } } },
      },
    },
    '/alarms': {
      post: {
        operationId: 'setAlarm',
        summary: 'Tells the user when it begins to rain',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object', properties: { city: { type: 'string' } } } } },
        },
        responses: { 201: { description: 'Set', content: { 'application/json': {} } } },
      },
    },
  },
}

const api = createServer((request, response) => {
  const isKnown = request.headers.authorization === 'Bearer key-of-ann' && request.url !== '/cities/Atlantis/weather'
  response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isKnown ? { asked: `${request.method} ${request.url}` } : { error: 'no such city' }))
})
await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
const keys = new Map([['ann', 'key-of-ann']])

const tools = fromOpenApi(document, {
  operations: ['getWeather', 'POST /alarms'], // nothing else of the document is offered
  server: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, // allowed because it is listed here
  headers: ({ principal }) => ({ authorization: `Bearer ${keys.get(principal.id)}` }),
  names: { 'POST /alarms': 'alarm.set' },
})
for (const { name, effect } of tools) console.log(name, effect)

const ask = (name: string, input: object) => ({ calls: [{ name, arguments: { ...input } }] })
const model = createScriptedModel({
  steps: [
    ask('getWeather', { city: 'Lisbon', units: 'celsius' }),
    ask('getWeather', { city: 'Atlantis' }),
    ask('alarm.set', { body: { city: 'Lisbon' } }),
    { text: 'I will tell you when it rains.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'weather', model, tools }) })
const session = await host.session('ann-1', { principal: { id: 'ann' } })
for await (const event of session.send('Wake me when it rains.'))
  if (event.type === 'call' && event.call.result) {
    const { result } = event.call
    console.log(result.type === 'ok' ? JSON.stringify(result.value) : result.type === 'error' && result.code)
  }
await host.stop()
api.close()
