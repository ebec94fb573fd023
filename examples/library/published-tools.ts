// Tools of three published packages, made for the AI SDK, in one agent: an in-memory shell, an MCP server, a web
// search.
import { createMCPClient } from '@ai-sdk/mcp'
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { fromAiSdk } from '@baton/tools/ai-sdk'
import { webSearch } from '@exalabs/ai-sdk'
import { createBashTool } from 'bash-tool'

delete process.env['EXA_API_KEY'] // without a key the search fails, and this program contacts no service
const shell = await createBashTool({ files: { 'notes.txt': 'buy milk\ncall Ann\n' } })
const transport = new StdioMCPTransport({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'] })
const server = await createMCPClient({ transport })
const { echo } = await server.tools()
if (!echo) throw new Error('the server has no tool "echo"')

const tools = fromAiSdk(
  { bash: shell.tools.bash, readFile: shell.tools.readFile, echo, webSearch: webSearch() },
  { trust: 'untrusted', effect: 'pure', byName: { bash: { effect: 'once' } } },
)

const ask = (name: string, input: object) => ({ calls: [{ name, arguments: { ...input } }] })
const model = createScriptedModel({
  steps: [
    ask('bash', { command: 'grep -c . notes.txt' }),
    ask('readFile', { path: 'notes.txt' }),
    ask('echo', { message: 'Hello!' }),
    ask('webSearch', { query: 'leases' }),
    { text: 'Done.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'helper', model, tools }) })
const session = await host.session('notes')
for await (const event of session.send('What is in my notes?')) {
  if (event.type !== 'call' || !event.call.result) continue
  const { name, result } = event.call
  console.log(name, result.type, JSON.stringify(result.type === 'ok' ? (result.value ?? result.content) : result))
}
await host.stop()
await server.close()
