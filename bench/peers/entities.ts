/** An author, or a publisher. */
export interface Named {
  id: number;
  name: string;
}

/** A book, with its author and its publisher. */
export interface Book {
  id: number;
  title: string;
  year: number;
  author: Named;
  publisher: Named;
}

/** A book that somebody has borrowed. */
export interface Loan {
  id: number;
  bookId: number;
  reader: string;
}
