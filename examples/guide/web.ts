// An agent searches the web and reads what it finds. Functions replace the search and the network here.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { webTools } from '@baton/kits/web'

const url = 'https://trains.example/night'
const tools = webTools({
  // Or braveSearch({ apiKey }), tavilySearch({ apiKey }), searxngSearch({ server }).
  search: ({ query }) => Promise.resolve([{ title: 'Night trains', url, snippet: `About ${query}` }]),
  fetch: () =>
    Promise.resolve(
      new Response('<title>Night trains</title><h1>Night trains</h1><ul><li>Oslo, 23:05<li>Bergen, 6:51</ul>', {
        headers: { 'content-type': 'text/html' },
      }),
    ),
})
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'web.search', arguments: { query: 'night train Oslo Bergen' } }] },
    { calls: [{ name: 'web.fetch', arguments: { url } }] },
    { text: 'It leaves at 23:05.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'traveller', model, tools }) })
const session = await host.session('trip')
for await (const event of session.send('When does the night train to Bergen leave?')) {
  if (event.type === 'call' && event.call.result?.type === 'ok') console.log(event.call.result.value)
  if (event.type === 'turn-finished') console.log(event.text)
}
await host.stop()
