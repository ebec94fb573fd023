// Phrases that give orders to a model, or pressure a person to hand over money or secrets, in English, German, French
// and Spanish. Searches the text as its reader sees it, so that invisible or foreign letters do not hide them.
import type { Category, Finding } from './finding.ts'
import { RULE_MAX } from './finding.ts'
import type { ReadThrough } from './read-through.ts'

interface Phrase {
  readonly category: Category
  readonly rule: string
  readonly weight: Finding['weight']
  /** Matches folded text: lower case, single spaces. Gaps are bounded to keep the time linear. */
  readonly pattern: RegExp
}

const phrase = (category: Category, name: string, weight: Finding['weight'], pattern: RegExp): Phrase => ({
  category,
  rule: `${category}/${name}`,
  weight,
  pattern,
})

const INJECTION: readonly Phrase[] = [
  phrase(
    'injection',
    'forget',
    'malicious',
    /\b(?:ignore|disregard|forget|override|bypass)\b(?:[^.!?\n]|\.(?=\w)){0,30}\b(?:previous|prior|above|earlier|preceding|all|any|your|the|these|system|safety)\b(?:[^.!?\n]|\.(?=\w)){0,30}\b(?:instructions?|prompts?|rules?|guidelines?|directives?|orders|context)\b/g,
  ),
  phrase(
    'injection',
    'forget',
    'malicious',
    /\b(?:ignorier\w{0,4}|vergiss|vergesst|missachte\w{0,2})\b(?:[^.!?\n]|\.(?=\w)){0,40}\b(?:anweisung\w{0,3}|instruktion\w{0,3}|vorgaben|regeln|befehle)\b/g,
  ),
  phrase(
    'injection',
    'forget',
    'malicious',
    /\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez) pas compte)\b(?:[^.!?\n]|\.(?=\w)){0,40}\b(?:instructions?|consignes|regles|règles|directives|ordres)\b/g,
  ),
  phrase(
    'injection',
    'forget',
    'malicious',
    /\b(?:ignora|ignore|ignorad|olvida|olvide|descarta)\b(?:[^.!?\n]|\.(?=\w)){0,40}\b(?:instrucciones|indicaciones|reglas|ordenes|órdenes|directrices)\b/g,
  ),
  phrase(
    'injection',
    'new-role',
    'malicious',
    /\b(?:you are now|from now on,? you (?:are|must|will)|act as|pretend (?:to be|you are)|du bist (?:jetzt|ab jetzt|nun)|tu es maintenant|a partir de ahora eres|ahora eres)\b(?:[^.!?\n]|\.(?=\w)){0,60}\b(?:dan|jailbroken|unrestricted|admin\w{0,10}|developer mode|root|no (?:rules|restrictions|limits)|ohne (?:regeln|einschrankungen|einschränkungen)|sans (?:restrictions|limites)|sin (?:restricciones|limites|límites)|evil|hacker)\b/g,
  ),
  phrase(
    'injection',
    'reveal',
    'malicious',
    /\b(?:reveal|print|repeat|output|show|tell me|leak|zeige?|verrate|affiche|revele|révèle|muestra|revela)\b(?:[^.!?\n]|\.(?=\w)){0,30}\b(?:system prompt|systemprompt|your (?:instructions|prompt|rules)|initial prompt|hidden prompt|prompt (?:systeme|système|del sistema)|instructions? (?:systeme|système))\b/g,
  ),
  phrase(
    'injection',
    'wire-markup',
    'malicious',
    /<\|(?:im_start|im_end|system|endoftext|start_header_id)\|>|\[\/?inst\]|<<\/?sys>>|(?:^|\n| )#{2,3} ?(?:system|instruction):/g,
  ),
  phrase(
    'injection',
    'order-to-agents',
    'malicious',
    /\b(?:(?:dear|attention|note to|important:?|hey,?) (?:ai|llm|assistant|agent|chatbot|language model|claude|chatgpt|copilot|gemini)\w{0,2}|(?:if you are|to (?:the|any|all)) (?:an? )?(?:ai|llm|language model|assistant|agent|crawler)s?)\b[^\n]{0,80}\b(?:must|should|please|ignore|send|answer|say|approve|mark|rate|score|respond|reply|include|delete|run|execute|call)\b/g,
  ),
  phrase(
    'injection',
    'hide-from-user',
    'malicious',
    /\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention\w{0,4}|alert\w{0,4}|notify\w{0,4})\b(?:[^.!?\n]|\.(?=\w)){0,20}\b(?:the |your )?(?:user|users|human|person|anyone|operator|moderator)s?\b/g,
  ),
  phrase(
    'injection',
    'forced-verdict',
    'malicious',
    /\b(?:answer|respond|reply|output|say|return|antworte|reponds|réponds|responde)\b(?:[^.!?\n]|\.(?=\w)){0,30}["“'«]?\b(?:valid|approved?|clean|safe|compliant|passed|gultig|gültig|valide|aprobado)\b["”'»]?(?=[.!,\n ]|$)(?:[^.!?\n]|\.(?=\w)){0,40}(?:\b(?:regardless|no matter|always|only|whatever|immer|toujours|siempre)\b|$|[.!\n])/g,
  ),
  phrase(
    'injection',
    'exfiltrate',
    'malicious',
    /\b(?:send|post|upload|forward|email|exfiltrate|transmit)\b(?:[^.!?\n]|\.(?=\w)){0,50}(?<!\w)(?:api keys?|passwords?|credentials|tokens?|secrets?|\.env|conversation|chat history|private keys?|ssh keys?|environment variables)\b(?:[^.!?\n]|\.(?=\w)){0,60}(?:\bto\b(?:[^.!?\n]|\.(?=\w)){0,30}(?:https?:|@|\bmy\b|\bthis\b|\bthe following\b))/g,
  ),
]

const PHISHING: readonly Phrase[] = [
  phrase(
    'phishing',
    'account-threat',
    'suspicious',
    /\b(?:your|ihr|dein|votre|ton|tu|su)\b(?:[^.!?\n]|\.(?=\w)){0,20}\b(?:account|konto|compte|cuenta|wallet|mailbox|package|paket|colis|paquete)\b(?:[^.!?\n]|\.(?=\w)){0,40}\b(?:suspended|locked|limited|disabled|closed|blocked|deactivated|expires?|gesperrt|eingeschränkt|eingeschrankt|suspendu|bloqué|bloque|suspendida|bloqueada|held|angehalten)\b/g,
  ),
  phrase(
    'phishing',
    'confirm-identity',
    'suspicious',
    /\b(?:verify|confirm|validate|update|bestatigen|bestätigen|verifizieren|confirmez|verifiez|vérifiez|confirme|verifique)\b(?:[^.!?\n]|\.(?=\w)){0,12}\b(?:your|ihre?|deine?|votre|vos|tu|tus|su|sus)\b(?:[^.!?\n]|\.(?=\w)){0,20}\b(?:identity|account|password|payment (?:details|method|information)|billing|bank details|card (?:details|number)|identitat|identität|konto|zahlungsdaten|passwort|identite|identité|compte|mot de passe|coordonnees bancaires|identidad|cuenta|contraseña|contrasena|datos bancarios)\b/g,
  ),
  phrase(
    'phishing',
    'hand-over-secret',
    'malicious',
    /\b(?:enter|send|give|provide|share|type|submit|reply with|tell (?:us|me)|gib|geben sie|sende|schicke|envoyez|donnez|entrez|envia|envía|introduce|ingresa)\b(?:[^.!?\n]|\.(?=\w)){0,40}\b(?:seed phrase|recovery phrase|private key|wallet key|one[- ]time (?:code|password)|otp|cvv|pin(?: code| number)?|mnemonic|wiederherstellungsphrase|tan|phrase de recuperation|phrase de récupération|frase semilla|código de verificación|codigo de verificacion|verification code)\b/g,
  ),
  phrase(
    'phishing',
    'doubling',
    'malicious',
    /\b(?:send|transfer|deposit)\b(?:[^.!?\n]|\.(?=\w)){0,40}\b(?:btc|bitcoin|eth|ethereum|usdt|crypto|sol)\b(?:[^.!?\n]|\.(?=\w)){0,80}\b(?:double|twice|2x|back|return|receive)\b/g,
  ),
  phrase(
    'phishing',
    'gift-cards',
    'malicious',
    /\b(?:buy|purchase|get|kaufe\w{0,2}|achete\w{0,2}|compra\w{0,2})\b(?:[^.!?\n]|\.(?=\w)){0,30}\b(?:gift ?cards?|itunes cards?|steam cards?|gutschein\w{0,6}|cartes? cadeaux?|tarjetas? de regalo)\b(?:[^.!?\n]|\.(?=\w)){0,80}\b(?:codes?|send|scratch|photo|sende|envoye\w{0,2}|env[ií]a\w{0,2})\b/g,
  ),
  phrase(
    'phishing',
    'prize',
    'suspicious',
    /\b(?:you (?:have|'ve) (?:won|been selected)|congratulations,? you|sie haben gewonnen|vous avez gagne|vous avez gagné|has ganado|ha ganado)\b[^\n]{0,80}\b(?:claim|prize|gift|reward|iphone|million|\$|€|click|gewinn|preis|lot|cadeau|premio)/g,
  ),
  phrase(
    'phishing',
    'pressure',
    'suspicious',
    /\b(?:within (?:24|48|12) hours|immediately or|act now|last warning|final notice|urgent(?:ly)?[:!]|innerhalb von (?:24|48) stunden|letzte mahnung|sous (?:24|48) ?h|dernier avertissement|en (?:24|48) horas|ultimo aviso|último aviso)(?![a-z])/g,
  ),
]

export function findPhrases(read: ReadThrough): readonly Finding[] {
  const found: Finding[] = []
  for (const { category, rule, weight, pattern } of [...INJECTION, ...PHISHING]) {
    let count = 0
    for (const { 0: words, index } of read.text.matchAll(pattern)) {
      const place = read.place(index, index + words.length)
      const isQuoted = category === 'injection' && isQuotation(read.text, index, index + words.length)
      found.push({ category, rule, ...place, weight: isQuoted ? 'suspicious' : weight })
      if ((count += 1) === RULE_MAX) break
    }
  }
  return found
}

/** Whether the match is within quotation marks or code, since texts about attacks quote them. */
function isQuotation(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 3), start)
  const after = text.slice(end, end + 40)
  return /["“‘'«`(]\s?$/.test(before) && /["”’'»`)]/.test(after)
}
