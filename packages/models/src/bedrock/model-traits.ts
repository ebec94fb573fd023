// What the models behind Converse can do and how they differ, read from a model's id.

export type BedrockFamily = 'claude' | 'nova' | 'nova-2' | 'mistral' | 'other'

/** The id of a model, of an inference profile (`us.amazon.nova-lite-v1:0`), or an ARN that ends with one of both. */
export function findFamily(modelId: string): BedrockFamily {
  if (modelId.includes('anthropic.claude')) return 'claude'
  if (modelId.includes('amazon.nova-2')) return 'nova-2'
  if (modelId.includes('amazon.nova')) return 'nova'
  return modelId.includes('mistral.') ? 'mistral' : 'other'
}

/** `us.anthropic.claude-…` and `anthropic.claude-…` are one model: a signature of one is good for the other. */
export function modelKey(modelId: string): string {
  const id = modelId.slice(modelId.lastIndexOf('/') + 1)
  return id.replace(/^[a-z-]+\.(?=(amazon|anthropic|mistral|meta|deepseek|openai|qwen|cohere|writer)\.)/, '')
}

/** "Structured outputs", Bedrock user guide: of Claude the 4.5 models and later ones; of Nova none. */
export function keepsToSchemas(modelId: string): boolean {
  return findFamily(modelId) === 'claude' && !/claude-(v\d|instant|3|(opus|sonnet)-4-(\d{8}|1-))/.test(modelId)
}
