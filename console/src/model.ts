/** Documents inside messages that the schema leaves open; read with care. */

export interface Segment {
  argv: string[];
  origin: string;
  judge: string;
  decision: string;
  why?: string;
  rule?: { pattern: (string | string[])[]; file: string; line: number; justification?: string };
}

/** The answer of `policy/explain` (`gatehouse policy explain --json`). */
export interface Explanation {
  segments: Segment[];
  complex: boolean;
  requirement: {
    kind: string;
    bypass_sandbox: boolean;
    reason?: string;
    proposed_amendment?: string[];
    amendment_exact?: boolean;
    /** `keep` or `bypass` */
    amendment_sandbox?: string;
    refused_by?: string;
  };
  sandbox: { backend: string; first_attempt: string; network: string };
  /** All of it in words, as the terminal and the audit say it. */
  why?: string;
}

export interface ProfileEntry {
  path: { type: string; path?: string; pattern?: string; value?: unknown };
  access: string;
}

export interface Profile {
  type: string;
  network?: string;
  file_system?: { type: string; entries?: ProfileEntry[] };
}
