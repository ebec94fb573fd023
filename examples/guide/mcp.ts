// An agent with the tools of an MCP server. The program starts the server, and answers its questions.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { createMcpServers } from '@baton/mcp/client'

const servers = createMcpServers({
  everything: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'] },
})
for (const source of servers.sources) await source.list() // connects now, and throws if a server does not work
const ask = (name: string, input: object) => ({ calls: [{ name, arguments: { ...input } }] })
const model = createScriptedModel({
  steps: [
    ask('get-sum', { a: 2, b: 3 }),
    ask('get-tiny-image', {}),
    ask('trigger-elicitation-request', {}),
    { text: 'I have tried the tools.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'tester', model, sources: servers.sources }) })
const session = await host.session('try-out')
for await (const event of session.send('Try some tools.')) {
  if (event.type === 'question-asked') {
    console.log(event.message)
    void session.answer({ questionId: event.questionId, value: { name: 'Ann', check: true } })
  }
  if (event.type === 'call' && event.call.result?.type === 'ok')
    console.log(event.call.name, event.call.result.content.map(({ type }) => type).join(', '))
}
await host.stop()
await servers.close()
