// The wires of providers as strict validators: what a provider would reject, with its message as the source.
export type { WireIssue } from './issue.ts'
export { validateAnthropicRequest } from './anthropic.ts'
export { validateBedrockRequest } from './bedrock.ts'
export { validateGeminiRequest } from './gemini.ts'
export { validateOpenAiChatRequest } from './openai-chat.ts'
export { validateOpenAiResponsesRequest } from './openai-responses.ts'
