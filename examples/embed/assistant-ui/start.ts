// `npm run example assistant-ui`: the page and its server on one port. With a key in the environment a real model answers.
import { chooseModel } from '@baton/models/choose-model'
import { defineAgent } from '@baton/host'
import { existsSync } from 'node:fs'
import chat from '../../chat-web/agent.ts'
import { bundlePage, startChat } from '../../chat-web/server.ts'

const isInstalled = existsSync(new URL('node_modules', import.meta.url))
if (isInstalled) await start()
else {
  console.error('First run: npm ci --prefix examples/embed/assistant-ui --ignore-scripts')
  process.exitCode = 1
}

async function start(): Promise<void> {
  // The tools that this page runs, and the server's.
  const tools = chat.tools.filter(({ name }) => name !== 'page.notice')
  const { id, reason } = chooseModel({ variables: process.env })
  const agent = defineAgent({ ...chat, name: 'assistant-ui', model: id, tools })
  const pageProgram = await bundlePage(new URL('page.tsx', import.meta.url))
  const { url } = await startChat(agent, { port: Number(process.env['PORT'] ?? 8788), pageProgram })
  console.log(`The chat is at ${url}; ${id} answers (${reason})`)
}
