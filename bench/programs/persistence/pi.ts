// A conversation that continues after a restart: `node pi.ts "I am Ann."`, then `node pi.ts "Who am I?"`.
import { contentText, type Context } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'

const models = builtinModels()
const context: Context = existsSync('chat.json') ? JSON.parse(await readFile('chat.json', 'utf8')) : { messages: [] }
context.messages.push({ role: 'user', content: process.argv[2] ?? 'Hello!', timestamp: Date.now() })
const answer = await models.complete(models.getModel('anthropic', 'claude-haiku-4-5')!, context)
if (answer.stopReason === 'error') throw new Error(answer.errorMessage)
context.messages.push(answer)
await writeFile('chat.json', JSON.stringify(context))
console.log(contentText(answer.content, ''))
