// The user stops an answer; the next question continues from the partial answer.
import { Agent } from '@earendil-works/pi-agent-core'
import { contentText } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'

const models = builtinModels()
const agent = new Agent({
  streamFn: models.streamSimple.bind(models),
  initialState: { model: models.getModel('anthropic', 'claude-haiku-4-5')! },
})
const unsubscribe = agent.subscribe((event) => {
  if (event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta') agent.abort()
})
await agent.prompt('Tell me a story.')
unsubscribe()
const stopped = agent.state.messages.at(-1)
if (stopped?.role !== 'assistant' || stopped.stopReason !== 'aborted') throw new Error(agent.state.errorMessage)
stopped.stopReason = 'stop' // an `aborted` message is left out of the next request
await agent.prompt('Shorter, please.')
if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage)
const answer = agent.state.messages.at(-1)
if (answer?.role === 'assistant') console.log(contentText(answer.content, ''))
