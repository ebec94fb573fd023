// A conversation that continues after a restart: `node ai-sdk.ts "I am Ann."`, then `node ai-sdk.ts "Who am I?"`.
import { anthropic } from '@ai-sdk/anthropic'
import type { ModelMessage } from 'ai'
import { generateText } from 'ai'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'

const messages: ModelMessage[] = existsSync('chat.json') ? JSON.parse(await readFile('chat.json', 'utf8')) : []
messages.push({ role: 'user', content: process.argv[2] ?? 'Hello!' })
const { text, responseMessages } = await generateText({ model: anthropic('claude-haiku-4-5'), messages })
await writeFile('chat.json', JSON.stringify([...messages, ...responseMessages]))
console.log(text)
