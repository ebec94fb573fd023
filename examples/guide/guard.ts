// A tool that reads the page that a model names: any public one, this program's wiki, and nothing else in the network.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { createGuardedFetch } from '@baton/tools/guard'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

const wiki = createServer((request, response) => {
  if (request.url === '/moved') response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' })
  response.end('Opening hours: 9 to 17.')
})
await new Promise<void>((resolve) => wiki.listen(0, '127.0.0.1', resolve))
const wikiUrl = `http://127.0.0.1:${(wiki.address() as AddressInfo).port}`

const fetch = createGuardedFetch({ allow: [wikiUrl], maxBytes: 200_000 })
const readPage = tool({
  name: 'page.read',
  description: 'Reads a page of the web or of the wiki',
  input: z.object({ url: z.string() }),
  effect: 'pure',
  trust: 'untrusted', // anyone can write a page
  execute: async ({ url }, { signal }) => {
    const response = await fetch(url, { signal })
    return { status: response.status, text: await response.text() }
  },
})

const ask = (url: string) => ({ calls: [{ name: 'page.read', arguments: { url } }] })
const model = createScriptedModel({
  steps: [
    ask(`${wikiUrl}/hours`),
    ask(`${wikiUrl}/moved`),
    ask('https://127.1:8080/admin'),
    ask('https://[::ffff:10.0.0.1]/'),
    ask('https://metadata.google.internal/'),
    { text: 'From 9 to 17.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'reader', model, tools: [readPage] }) })
const session = await host.session('reading')
for await (const event of session.send('When is the library open?'))
  if (event.type === 'call' && event.call.result) {
    const { result } = event.call
    if (result.type === 'ok') console.log(JSON.stringify(result.value))
    if (result.type === 'error') console.log(result.code, result.message.replace(wikiUrl, 'the wiki'))
  }
await host.stop()
await fetch.close()
wiki.close()
