// Starts the example on its port, and prints its address.
import { chooseModel } from '@baton/models/choose-model'
import agent from './agent.ts'
import { startChat } from './server.ts'

const { id, reason } = chooseModel({ variables: process.env })
const { url } = await startChat(agent, { defaultModel: id, port: Number(process.env['PORT'] ?? 8787) })
console.log(`The chat is at ${url}; ${id} answers (${reason})`)
