// Maps provider names to those in @pydantic/genai-prices. Local servers are not listed: they are free, and their
// context windows depend on how the server was started.

export const LISTED_PROVIDERS: Readonly<Record<string, string>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-chat': 'openai',
  azure: 'azure',
  gemini: 'google',
  bedrock: 'aws',
  groq: 'groq',
  openrouter: 'openrouter',
  deepseek: 'deepseek',
  mistral: 'mistral',
  xai: 'x-ai',
  together: 'together',
  fireworks: 'fireworks',
  cerebras: 'cerebras',
}
