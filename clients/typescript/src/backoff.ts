/** When to try again after a lost connection. */
export interface ReconnectPolicy {
  firstDelayMs: number;
  maxDelayMs: number;
  /** Attempts after which the session is given up; none: until `close()`. */
  maxAttempts?: number;
}

export const defaultReconnect: ReconnectPolicy = { firstDelayMs: 100, maxDelayMs: 5000 };

/** The pause before attempt 1, 2, …: doubled each time, and spread so that clients do not come all at once. */
export function delayBefore(attempt: number, policy: ReconnectPolicy, random: () => number): number {
  const whole = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
  return whole * (0.5 + random() / 2);
}
