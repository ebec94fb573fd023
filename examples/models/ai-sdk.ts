// An agent on an AI SDK model, with a tool that OpenAI runs itself.
import { createOpenAI } from '@ai-sdk/openai'
import { defineAgent } from '@baton/core'
import { fromAiSdkModel } from '@baton/models/ai-sdk'

export default defineAgent({
  name: 'helper',
  model: fromAiSdkModel(createOpenAI()('gpt-5-mini')),
  settings: { serverTools: { openai: [{ id: 'openai.web_search', name: 'web_search', args: {} }] } },
})
