// The voice conductor: a voice app that hands work to Cursor's coding agents. Without CURSOR_API_KEY, every tool
// belongs to the app and runs in a connected app; with the key, the tools run in this server.
import { defineAgent, voice } from '@baton/host'
import { CURSOR_AGENT_INSTRUCTIONS, cursorAgentClientTools, cursorAgentTools } from '@baton/kits/cursor-agents'

const { CURSOR_API_KEY: apiKey, CURSOR_API_URL: server } = process.env

export default defineAgent({
  name: 'voice-conductor',
  profile: voice,
  instructions: `You are a voice assistant that conducts coding agents.
${CURSOR_AGENT_INSTRUCTIONS}
Your answers are spoken: keep them short, in plain sentences, without tables, markdown or long formatting.`,
  // An app of protocol version 1 cannot show an approval: the person says what is to be done, and confirms the repository.
  tools: apiKey ? cursorAgentTools({ apiKey, ...(server && { server }), approval: false }) : cursorAgentClientTools(),
})
