// On Baton: an AI SDK middleware stays around its model, and the same wrapper works around any Baton model.
import { createAnthropic } from '@ai-sdk/anthropic'
import type { Model } from '@baton/host'
import { createHost, defineAgent } from '@baton/host'
import { fromAiSdkModel } from '@baton/models/ai-sdk'
import { defaultSettingsMiddleware, wrapLanguageModel } from 'ai'

const wrapped = wrapLanguageModel({
  model: createAnthropic()('claude-haiku-4-5'),
  middleware: defaultSettingsMiddleware({ settings: { temperature: 0 } }),
})

/** wrapGenerate and wrapStream in one: `run` streams the pieces to `sink` and returns the complete answer. */
function countTokens(model: Model): Model {
  const { id, provider, capabilities } = model
  return {
    id,
    provider,
    capabilities,
    run: async (request, sink, signal) => {
      const answer = await model.run(request, sink, signal)
      console.log(request.messages.length, 'messages,', answer.usage.outputTokens, 'tokens')
      return answer
    },
  }
}

const host = createHost({ agent: defineAgent({ name: 'friend', model: countTokens(fromAiSdkModel(wrapped)) }) })
const session = await host.session('customer-1')
console.log((await session.send('Hello!').answer).text)
await host.stop()
